import { Client } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { buildMcpServerFile } from '../../../agent-card/documents.ts';
import { SKILLS } from '../../../skills/index.ts';
import { PACKAGE_SETTINGS, PUBLICATION } from '../../../src/tools/packages.ts';
import { documentText, ROOT } from '../../support/docs/documents.ts';

const text = documentText('docs/ASSISTANTS.md');
const FOLDER = '/absolute/path/of/this/folder';
const [{ url: URL_OF_ALL }] = buildMcpServerFile({ publicUrl: 'http://127.0.0.1:3000', version: '1', hasOAuth: true }).remotes;

/** How the npm package is started. */
const PACKAGED = { command: 'svc', args: ['mcp'] };

/** An entry for one server, wherever a client has it. */
type Entry = Record<string, unknown>;

const blocksOf = (language: string) => [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block]) => block);

/** Tables of strings and of lists of strings, which JSON writes the same. */
function tomlEntry(block: string): Entry {
  const [header, ...lines] = block.trim().split('\n');
  expect(header).toBe('[mcp_servers.bitcoin-signal-oracle]');
  return Object.fromEntries(lines.map((line) => /^(\w+) = (.+)$/.exec(line)!).map(([, name, value]) => [name, JSON.parse(value)]));
}

function jsonEntry(block: string): Entry {
  const { mcpServers, servers, context_servers } = JSON.parse(block);
  return (mcpServers ?? servers ?? context_servers)['bitcoin-signal-oracle'];
}

const [, DESKTOP] = text.match(/^## Claude Desktop\n.*?```json\n(.*?)```/ms)!;
const { command: COMMAND, args: ARGS } = jsonEntry(DESKTOP) as { command: string; args: string[] };

const entries = [...blocksOf('json').map(jsonEntry), ...blocksOf('toml').map(tomlEntry)];
const commands = entries.filter(({ command }) => command !== undefined && command !== PACKAGED.command);
const packaged = entries.filter(({ command }) => command === PACKAGED.command);
const remotes = entries.filter((entry) => !('command' in entry));

describe('docs/ASSISTANTS.md', () => {
  it('starts one program, by whichever assistant', () => {
    expect(commands.length).toBeGreaterThanOrEqual(3);
    for (const { command, args } of commands) expect({ command, args }).toEqual({ command: COMMAND, args: ARGS });
    for (const line of blocksOf('sh').flatMap((block) => block.match(/npm .*$/gm) ?? [])) {
      expect(line).toBe([COMMAND, ...ARGS].join(' '));
    }
  });

  it('starts the npm package by one of its programs, with variables that it reads', () => {
    const lines = blocksOf('sh').flatMap((block) => block.match(/^.* svc mcp$/gm) ?? []);
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['claude', 'codex', 'gemini']);
    const [, added] = /code --add-mcp '(.*)'/.exec(text)!;
    const variables = PACKAGE_SETTINGS.map(({ variable }) => variable);
    expect(packaged).toHaveLength(1);
    for (const { env, ...entry } of [...packaged, JSON.parse(added)] as Entry[]) {
      expect(entry).toMatchObject(PACKAGED);
      expect(variables).toEqual(expect.arrayContaining(Object.keys(env as object)));
      expect(env).toMatchObject({ ORACLE_URL: URL_OF_ALL });
    }
    expect(text).toContain(`npx -y ${PUBLICATION.npmName} mcp`);
  });

  it('names the address that the service calls its own, and a token as a header', () => {
    expect(remotes.length).toBeGreaterThanOrEqual(8);
    for (const { url, serverUrl, httpUrl, headers, bearer_token_env_var: variable } of remotes) {
      expect(url ?? serverUrl ?? httpUrl).toBe(URL_OF_ALL);
      if (variable === undefined) expect((headers as Record<string, string>).Authorization).toMatch(/^Bearer \S+$/);
      else expect(variable).toBe('ORACLE_TOKEN');
    }
    expect(text.match(/http:\/\/[\w.:]+[^\s"`)]*/g)!.filter((url) => url !== URL_OF_ALL)).toEqual([]);
  });

  it('has a part for each of the assistants', () => {
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    for (const name of ['Claude Desktop', 'Claude Code', 'Cursor', 'VS Code', 'Windsurf', 'Zed', 'OpenAI Codex', 'Gemini CLI', 'Cline'])
      expect(headings).toContain(name);
    expect(headings).toEqual(expect.arrayContaining(['Continue', 'LM Studio', 'Any other']));
  });

  it('has a command that starts, and offers the four tools', async () => {
    const client = new Client({ name: 'tests', version: '1.0.0' });
    const args = ARGS.map((word) => (word === FOLDER ? ROOT : word));
    // Which tools there are, no service is asked for.
    const env = { ...getDefaultEnvironment(), ORACLE_URL: 'http://127.0.0.1:9' };
    await client.connect(new StdioClientTransport({ command: COMMAND, args, env, cwd: '/', stderr: 'ignore' }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(SKILLS.map(({ id }) => id));
    await client.close();
  });
});
