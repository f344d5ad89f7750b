"""The dialect described: every route with its parameters, bodies and errors, as OpenAPI, and as a page for people."""
