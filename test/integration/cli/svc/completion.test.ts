import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_COMMANDS } from '../../../../src/cli/commands/backup/command-list.ts';
import { buildCommand } from '../../../../src/cli/svc/command-line.ts';
import { COMMANDS } from '../../../../src/cli/svc/command-list.ts';
import { runCli } from '../../../../src/cli/svc/main.ts';
import { DEMO_WALLET_NAMES } from '../../../../src/cli/svc/secrets/keys.ts';
import { DEMO_WALLETS } from '../../../../src/dev/demo/demo-file.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { cli } from '../../../support/service/cli.ts';

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const ALL = [...COMMANDS, ...OPERATOR_COMMANDS];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oracle-completion-'));
  await writeFile(join(folder, 'key.txt'), '');
  for (const shell of ['bash', 'zsh', 'fish']) await writeFile(join(folder, `svc.${shell}`), (await cli(['completion', shell])).out);
});
afterAll(() => removeFolder(folder));

/** Command lines with the cursor at their end, and the completions of the last word. */
const CASES = [
  ['svc sig', ['signal']],
  ['svc signal --hor', ['--horizon']],
  ['svc signal --horizon ', ['1d', '2d', '3d', '7d']],
  ['svc signal --horizon 7', ['7d']],
  ['svc pay pre', ['premium']],
  ['svc pay signal --max', ['--max-usd']],
  ['svc verify la', ['latest']],
  ['svc dataset --table forecasts --format p', ['parquet']],
  ['svc login --wallet b', ['basic', 'buyer']],
  ['svc completion f', ['fish']],
  ['svc help wat', ['watch']],
] as const;

describe('svc completion bash', () => {
  /** Calls the function that bash calls on Tab. */
  function complete(line: string, words = line.split(' ')): string[] {
    const script = `source "$1/svc.bash"; shift; complete -p svc >&2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _svc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync('bash', ['--norc', '-c', script, 'bash', folder, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return out.split('\n').filter(Boolean).sort();
  }

  it.each(CASES)('completes "%s"', (line, expected) => {
    expect(complete(line)).toEqual([...expected].sort());
  });

  it('completes the value after an equals sign, which bash splits off', () => {
    expect(complete('', ['svc', 'signal', '--horizon', '=', ''])).toEqual(['1d', '2d', '3d', '7d']);
    expect(complete('', ['svc', 'signal', '--horizon', '=', '3'])).toEqual(['3d']);
  });
});

describe.skipIf(!has('fish'))('svc completion fish (skipped without fish)', () => {
  const complete = (line: string) => {
    const out = execFileSync('fish', ['--no-config', '-c', 'source $argv[1]/svc.fish; cd $argv[1]; complete -C $argv[2]', folder, line], {
      encoding: 'utf8',
    });
    return out
      .split('\n')
      .filter(Boolean)
      .map((row) => row.split('\t')[0])
      .sort();
  };

  it.each(CASES)('completes "%s"', (line, expected) => {
    expect(complete(line)).toEqual([...expected].sort());
  });

  it('completes file names of options that take a file', () => {
    expect(complete('svc login --key-file ke')).toEqual(['key.txt']);
    expect(complete('svc signal --url ke')).toEqual([]);
  });
});

describe.skipIf(!has('zsh'))('svc completion zsh (skipped without zsh)', () => {
  /** Types into an interactive zsh, presses Tab and prints the line. */
  const SCRIPT = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PROMPT= RPROMPT=; cd $1; autoload -U compinit; compinit -D -u; source svc.zsh; show() { print -r -- '<'\\$BUFFER'>'; BUFFER=; }; zle -N show; bindkey '^I' complete-word '^X' show; print rea''dy"
zpty -r z out '*ready*'
shift
for line in "$@"; do
  zpty -w -n z "$line"$'\\t\\x18'
  zpty -r z out '*<svc*>*'
  print -r -- "\${\${out##*<}%%>*}"
done
zpty -d z`;

  it('completes words that have one completion', () => {
    const cases = CASES.filter(([, expected]) => expected.length === 1);
    const out = execFileSync('zsh', ['-f', '-c', SCRIPT, 'zsh', folder, ...cases.map(([line]) => line)], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(cases.map(([line, [word]]) => `${line.slice(0, line.lastIndexOf(' '))} ${word}`));
  });
});

describe('svc completion', () => {
  it('lists every option of every command, in the script of each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      let script = '';
      const out = { write: (text: string) => (script += text) };
      const context = { out, err: out, environment: {}, version: '1', prompt: null, now: () => new Date() };
      await runCli(['completion', shell], { ...context, createInterruptSignal: () => new AbortController().signal }, ALL);
      for (const { load, ...entry } of ALL) {
        const command = buildCommand({ ...entry, ...(await load()) }, out);
        const lines = script
          .split('\n')
          .filter((line) => line.includes(entry.name))
          .join('\n');
        for (const { long } of command.options) expect(lines, `${shell}: ${entry.name}`).toContain(long!.slice(2));
      }
    }
  });

  it('is one JSON document with --json', async () => {
    const { out } = await cli(['completion', 'bash', '--json']);
    expect(JSON.parse(out)).toEqual({ shell: 'bash', script: (await cli(['completion', 'bash'])).out });
  });

  it('rejects another shell', async () => {
    expect(await cli(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('must be one of bash, zsh, fish'),
    });
  });

  it('names the wallets of the demo deployment', () => {
    expect(DEMO_WALLET_NAMES).toEqual(DEMO_WALLETS);
  });
});
