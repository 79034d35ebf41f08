import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type McpServer, type ServerOptions } from '@modelcontextprotocol/server';
import { registerContent } from './fixtures/content.ts';
import { registerNotices } from './fixtures/notices.ts';
import { type Round, registerQuestions } from './fixtures/questions.ts';

/** What the official conformance suites of MCP call by name; nothing of this service. */
export interface McpFixtures {
  /** For the constructor of the server: refuses state between rounds that is not ours. */
  options: Pick<ServerOptions, 'requestState'>;
  register(server: McpServer): void;
}

/** One for the life of a process: rounds of one call may meet different servers of it. */
export function createMcpFixtures(): McpFixtures {
  const states = createRequestStateCodec<Round>({ key: randomBytes(32) });
  return {
    options: { requestState: { verify: states.verify } },
    register(server) {
      registerContent(server);
      registerNotices(server);
      registerQuestions(server, states);
    },
  };
}
