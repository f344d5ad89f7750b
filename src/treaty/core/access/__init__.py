"""Authorization: rights, the permissions that operations need, and the view of a principal."""
