"""Pages for people at ``/ui``, and what they are made from."""
