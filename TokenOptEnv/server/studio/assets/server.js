// The server's small interface. Whatever it has to complain of is one line, which is thrown as it is.
async function answered(reply) {
  if (reply.ok) return reply.json();
  const told = await reply.json().catch(() => ({}));
  throw new Error(told.detail || `the server answered ${reply.status}`);
}

async function asked(path, options) {
  let reply;
  try {
    reply = await fetch(`api/${path}`, options);
  } catch {
    throw new Error("the server cannot be reached; is it still running?");
  }
  return answered(reply);
}

const post = (path, body) =>
  asked(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const server = {
  lobby: () => asked("lobby"),
  caseAt: (split, index) => asked(`cases/${encodeURIComponent(split)}/${encodeURIComponent(index)}`),
  frames: (sitting) => post("episode", sitting),
  step: (sitting, action) => post("step", { sitting, action }),
  next: (sitting) => post("next", sitting),
};
