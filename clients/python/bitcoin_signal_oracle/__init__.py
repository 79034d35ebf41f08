"""Client of a Bitcoin Signal Oracle. The direction of its forecasts has no demonstrated skill: see README.md.

Import from the modules: ``client``, ``daily``, ``login``, ``credentials``, ``payment``, ``webhooks``, ``stream``, ``wallet``, ``errors``,
``responses``.
"""
