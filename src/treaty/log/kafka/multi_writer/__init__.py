"""`writers=any`: no coordinator; one record per append, valid if it names the last valid append as its parent."""
