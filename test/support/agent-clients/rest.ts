import { fetchAs, type OpenAgentClient, toErrorOutcome } from './client.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
type Body = any;

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** `POST /api/svc/skills/<skill>`. */
export const openRest: OpenAgentClient = async ({ url, token }) => ({
  async run(skill, input) {
    const response = await fetchAs(token)(`${url}/api/svc/skills/${skill}`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify(input),
    });
    const body: Body = await response.json();
    return response.ok ? { ok: true, output: body.output, text: body.text } : toErrorOutcome(body);
  },
  close: async () => undefined,
});

/** The interface's own tasks; they have no text. */
export const openTasks: OpenAgentClient = async ({ url, token }) => ({
  async run(skill, input) {
    const response = await fetchAs(token)(`${url}/api/svc/a2a/tasks/send`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ skill, input }),
    });
    const body: Body = await response.json();
    if (!response.ok) return toErrorOutcome(body);
    const { status, result } = body.result;
    return status === 'completed' ? { ok: true, output: result, text: '' } : toErrorOutcome(result);
  },
  close: async () => undefined,
});
