"""Confluent's REST dialect: bodies, headers and errors, from and to the requests and answers of core.

A server reads bodies and prints answers and refusals; a client prints requests and reads answers and refusals. Both use
the same tables. Source: behaviour of Confluent's 8.x server and its clients.
"""
