"""The pages: a function each, a template each, and what all of them share."""
