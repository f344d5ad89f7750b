"""What commands about lake tables share."""
