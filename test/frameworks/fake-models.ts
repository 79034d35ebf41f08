/** What a framework gave its model: the names of the tools, and all text of the last call. */
interface Seen {
  tools: string[];
  text: string;
}

export interface FakeModel {
  /** Of the framework's own test helpers: calls one tool, then answers with what it has got. */
  model: unknown;
  seen(): Seen;
}

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

// biome-ignore lint/suspicious/noExplicitAny: packages that are installed for this test alone have no types here
const load = (path: string): Promise<any> => import(new URL(`../../examples/${path}`, import.meta.url).href);

export interface Framework {
  name: string;
  ask(question: string, options: { model: unknown; url: string; token?: string }): Promise<string>;
  fakeModel(call: ToolCall): FakeModel;
}

export async function loadAiSdk(): Promise<Framework> {
  const { ask } = await load('ai-sdk/ask.mjs');
  const { MockLanguageModelV4 } = await load('ai-sdk/node_modules/ai/dist/test/index.js');
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const answer = (reason: string, content: object) => ({
    ...{ content: [content], finishReason: { unified: reason, raw: undefined }, usage, warnings: [] },
  });
  const fakeModel = ({ name, input }: ToolCall): FakeModel => {
    const called = answer('tool-calls', { type: 'tool-call', toolCallId: 'call-1', toolName: name, input: JSON.stringify(input) });
    const model = new MockLanguageModelV4({
      doGenerate: async ({ prompt }: { prompt: { role: string; content: unknown }[] }) => {
        const last = prompt.at(-1)!;
        return last.role === 'tool' ? answer('stop', { type: 'text', text: JSON.stringify(last.content) }) : called;
      },
    });
    const seen = () => {
      const { tools, prompt } = model.doGenerateCalls.at(-1);
      return { tools: tools.map((tool: { name: string }) => tool.name), text: JSON.stringify(prompt) };
    };
    return { model, seen };
  };
  return { name: 'ai-sdk', ask, fakeModel };
}

export async function loadLangChain(): Promise<Framework> {
  const { ask } = await load('langchain/ask.mjs');
  const { fakeModel: build } = await load('langchain/node_modules/@langchain/core/dist/testing/index.js');
  const fakeModel = ({ name, input }: ToolCall): FakeModel => {
    // Without a tool it answers with the text of the messages.
    const model = build()
      .respondWithTools([{ name, args: input }])
      .respondWithTools([]);
    const bound: string[] = [];
    const { bindTools } = model;
    model.bindTools = (tools: { name: string }[], ...rest: unknown[]) => {
      bound.splice(0, bound.length, ...tools.map((tool) => tool.name));
      return Reflect.apply(bindTools, model, [tools, ...rest]);
    };
    return { model, seen: () => ({ tools: bound, text: JSON.stringify(model.calls.at(-1).messages) }) };
  };
  return { name: 'langchain', ask, fakeModel };
}
