"""The environment over OpenEnv's protocol: HTTP for questions, one WebSocket for each episode's session.

It holds no rule of the game: every episode is played by `LocalEnv`.
"""
