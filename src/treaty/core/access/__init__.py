"""Who may do what: rights, the permissions that operations need, and the view of one principal."""
