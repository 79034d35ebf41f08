import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getSchemaUid } from '../../../src/chain/eas/schemas.ts';
import { lyingNode, RESOLVES_AT } from '../../support/chain/broken-endpoint.ts';
import { documentText, ROOT, scriptIn } from '../../support/docs/documents.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { spawnNode } from '../../support/service/service.ts';

const text = documentText('docs/VERIFY.md');
/** Packages are found from it. */
const CACHE = resolve(ROOT, 'node_modules/.cache/scripts');

/** What the steps of docs/VERIFY.md are followed with: a service with a record, and its chain. */
type Place = Record<'SERVICE_URL' | 'RPC_URL', string>;

interface Resolved {
  type: string;
  uid: string;
  refUid: string;
  date: string;
  horizon: string;
  sequence: number;
}

/** Follows docs/VERIFY.md by hand, beside a service that is there by then. */
export function describeVerifying(place: () => Place): void {
  let folder: string;

  beforeAll(async () => {
    await mkdir(CACHE, { recursive: true });
    folder = await mkdtemp(join(CACHE, 'verify-'));
    await writeFile(join(folder, 'by-hand.mjs'), scriptIn(text, 'by-hand.mjs'));
    await symlink(join(ROOT, 'src'), join(folder, 'src'));
  });
  afterAll(() => removeFolder(folder));

  const asked = (uids: string[], at: Place) => spawnNode([join(folder, 'by-hand.mjs'), ...uids], at).ended;
  const byHand = (...uids: string[]) => asked(uids, place());

  /** Resolutions as served, newest first. */
  async function resolved(): Promise<Resolved[]> {
    const answer = await fetch(`${place().SERVICE_URL}/api/svc/onchain-oracle/history?horizons=all&limit=50`);
    const { data } = (await answer.json()) as { data: Resolved[] };
    return data.filter(({ type }) => type === 'resolution');
  }

  describe('docs/VERIFY.md, by hand', () => {
    it('every line of its steps, one after the other, finds what it says', async () => {
      const steps = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, lines]) => lines);
      expect(steps).toHaveLength(5);
      const script = ['set -euo pipefail', ...steps].join('\necho ----\n');
      const { SERVICE_URL, RPC_URL } = place();
      await mkdir(join(folder, 'data'));
      await writeFile(join(folder, 'data/demo.json'), JSON.stringify({ rpcUrl: RPC_URL }));
      // What a shell has that followed them before a restart.
      const env = { ...process.env, SERVICE_URL, RPC_URL: 'http://127.0.0.1:1' };
      const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder, env });
      const [, , raw, checked, digest, versions] = stdout.split('----\n');

      const [latest] = await resolved();
      expect(JSON.parse(raw).result.match(/[0-9a-f]{64}/g)[1]).toBe(latest.refUid.slice(2));
      expect(checked.match(/^(yes|NO) /gm)).toEqual(Array(8).fill('yes '));
      expect(checked).toContain(`of ${latest.date} for ${latest.horizon}, number ${latest.sequence} of `);
      expect(checked).toContain(`no gap: ${latest.sequence - 1} steps back to number 1\n`);
      expect(digest.split(' ')[0]).toBe(/metadata ([0-9a-f]{64})/.exec(checked)?.[1]);
      const [served, own] = versions.split('\n');
      expect(served).toContain(own.split(' ')[0]);
    });

    it('says NO of a resolution that belongs to another forecast, and ends with 1', async () => {
      const [latest, other] = await resolved();
      const { code, output } = await byHand(latest.refUid, other.uid);
      expect(code, output).toBe(1);
      expect(output).toMatch(/NO {3}resolves it/);
      expect(output).toMatch(/NO {3}opens the commitment/);
    });

    it('says NO of a window that is not that of day and horizon', async () => {
      const [{ refUid }] = await resolved();
      const node = await lyingNode(place().RPC_URL, RESOLVES_AT);
      const { code, output } = await asked([refUid], { ...place(), RPC_URL: node.url });
      await node.close();
      expect(code, output).toBe(1);
      expect(output.match(/^NO .*$/gm)).toEqual([expect.stringContaining('its own window: ')]);
    });

    it('checks what is open as far as it can be', async () => {
      const { data } = (await (await fetch(`${place().SERVICE_URL}/api/svc/onchain-oracle/latest`)).json()) as { data: { uid: string } };
      const { code, output } = await byHand(data.uid);
      expect(code, output).toBe(0);
      expect(output.match(/^yes/gm)).toHaveLength(4);
      expect(output).not.toContain('it said');
    });

    it('refuses what is no prediction', async () => {
      const [latest] = await resolved();
      const { code, output } = await byHand(latest.uid);
      expect(code).toBe(1);
      expect(output).toContain('is no attestation of this schema');
    });

    it.each(['prediction', 'resolution'] as const)('links to the %s schema of this code', (name) =>
      expect(text).toContain(`https://base.easscan.org/schema/view/${getSchemaUid(name)}`),
    );
  });
}
