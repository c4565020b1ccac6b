"""Joins the chunks of streamed replies of providers' APIs into whole replies."""
