"""A lower bound on the cost of any success, computed without the planner.

A relaxation: it keeps what every successful episode must pay, whoever plays it, and drops the rest.

- Every field of the answer stands in a finding that is held at the end (`sources`): of a model that is right on the
  evidence in this world, or right on nothing, or wrong in other fields only; or of an earlier result that says so.
  A question with a slot needs a finding that fills it. Every choice that covers the fields is looked at.
- A right answer pays for a call (`question`): its head, fresh once for each model; its question; its output, which the
  draws fix; and at the least the facts on which this model is right, in a context so short and so free of decoys. A
  fact is shown by a whole segment, of which four may be handed over, or by what else can hold its text (`sightings`).
- What the answer rests on is read whole by the model that cites it, or by the policy, and had to be surfaced before
  (`evidence`): the shortest line that can do so stands in the prompts that follow.
- The policy pays for each of its steps (`prompts`): head, tail and words; findings stay from their step to the end;
  what is below the provider's least length is never cached, and what is cached was fresh once.
- What an episode could do to pay less of all this takes further steps (`freedom`), and each of them costs a prompt.
- A phase that is not the last ends with a note of findings for all its questions, or with all its steps (`legs`).
"""

from TokenOptEnv.plans.bound.bound import lower_bound

__all__ = ["lower_bound"]
