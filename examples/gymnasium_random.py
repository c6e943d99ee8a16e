"""A random policy that respects the mask: the floor for any agent that speaks numbers."""

import gymnasium

import TokenOptEnv.adapters.gym_env  # noqa: F401  # registers CAMRE-v2

env = gymnasium.make("CAMRE-v2")
env.action_space.seed(7)
for seed in range(3):
    observation, info = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        action = env.action_space.sample(mask=env.unwrapped.sample_mask())
        observation, reward, terminated, truncated, info = env.step(action)
        total, over = total + reward, terminated or truncated
    print(f"{info['observation'].task.scenario_id}: return {total:.3f}, success {info['is_success']}")
