"""The Studio: playing, watching and comparing episodes in a browser, as the custom tab of OpenEnv's web interface.

It has no rule and no truth of its own. What the page is handed is the observation that any agent would get
(`sitting.Frame`), and what it sends back is an action. Everything on the page follows from these.
"""
