"""Requests and answers, frozen dataclasses, in a module for each area; `request` has the base class of requests."""
