"""Other people's messages, both ways, without routes: servers print with these modules, clients read with them."""
