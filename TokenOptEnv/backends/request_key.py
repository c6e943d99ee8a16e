"""What an answer depends on, as one short name: the same content has the same key in any process.

Ids that an episode gives its items are not part of it, since they depend on the way there. The segments that a text
comes from are: an answer cites them.
"""

from __future__ import annotations

import json
from hashlib import sha256

from TokenOptEnv.backends.question import fields_of, public_of
from TokenOptEnv.simulators.backend import RouteRequest

_DIGITS = 32


def request_key(request: RouteRequest) -> str:
    content = [
        request.model_id,
        request.effort.value,
        public_of(request).brief,
        request.question,
        [[field.name, field.kind.value, field.question, *field.choices] for field in fields_of(request)],
        [[list(piece.source_ids), piece.text] for piece in request.context],
    ]
    canonical = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()[:_DIGITS]
