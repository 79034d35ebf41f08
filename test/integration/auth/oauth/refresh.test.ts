import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArtifactStore } from '../../../../src/auth/oauth-clients.ts';
import { RefreshReplyStore } from '../../../../src/auth/oauth-server.ts';
import { createSecretBox } from '../../../../src/platform/secrets.ts';
import { demoWallets } from '../../../support/auth/login.ts';
import { callMcp, OAuthTestClient } from '../../../support/auth/oauth-client.ts';
import { type OAuthService, serveOAuthService } from '../../../support/auth/oauth-service.ts';

let oauth: OAuthService;
beforeAll(async () => {
  oauth = await serveOAuthService();
});
afterAll(() => oauth?.close());

const replies = () => oauth.service.database.db.collection<{ _id: string }>('oauth_refresh_replies');
const keyOf = (token: string) => createHash('sha256').update(token).digest('base64url');
const mayCall = async (token: string) => (await callMcp(`${oauth.url}/mcp/account`, token)).status === 200;

async function authorized() {
  const client = new OAuthTestClient(oauth.url);
  await client.register();
  const { body } = await client.exchange(await client.getCode(demoWallets(oauth.service).basic));
  return { client, refreshToken: body.refresh_token as string };
}

describe('a refresh', () => {
  it('rotates the token, and the new one is refreshed in turn', async () => {
    const { client, refreshToken } = await authorized();
    const first = await client.refresh(refreshToken);
    const second = await client.refresh(first.body.refresh_token);
    expect(new Set([refreshToken, first.body.refresh_token, second.body.refresh_token]).size).toBe(3);
    expect(await mayCall(second.body.access_token)).toBe(true);
  });

  it('by several requests at once gives all of them the same tokens, which work', async () => {
    const { client, refreshToken } = await authorized();
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.refresh(refreshToken)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    expect(await mayCall(answers[0]!.body.access_token)).toBe(true);
    expect((await client.refresh(answers[0]!.body.refresh_token)).status).toBe(200);
  });

  it('that is repeated after its answer was lost gets it again; a minute later the reuse ends the grant', async () => {
    const { client, refreshToken } = await authorized();
    const lost = await client.refresh(refreshToken);
    const again = await client.refresh(refreshToken);
    expect(again).toMatchObject({ status: 200, body: lost.body });
    await replies().updateOne({ _id: keyOf(refreshToken) }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    expect(await client.refresh(refreshToken)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await mayCall(lost.body.access_token)).toBe(false);
    expect((await client.refresh(lost.body.refresh_token)).status).toBe(400);
  });

  it('by another client gets nothing, and ends nothing', async () => {
    const { client, refreshToken } = await authorized();
    const { body } = await client.refresh(refreshToken);
    const other = new OAuthTestClient(oauth.url);
    await other.register();
    expect(await other.refresh(refreshToken)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await mayCall(body.access_token)).toBe(true);
    expect(await client.refresh(refreshToken)).toMatchObject({ status: 200, body });
  });

  it('whose process died before it had stored the answer is made again', async () => {
    const { client, refreshToken } = await authorized();
    const lost = await client.refresh(refreshToken);
    await replies().updateOne({ _id: keyOf(refreshToken) }, { $set: { sealed: null, heldUntil: new Date(Date.now() - 1) } });
    const again = await client.refresh(refreshToken);
    expect(again.status).toBe(200);
    expect(again.body.refresh_token).not.toBe(lost.body.refresh_token);
    expect(await mayCall(again.body.access_token)).toBe(true);
  });

  it('that fails gives back what it has consumed, and nothing that was consumed before', async () => {
    const { db } = oauth.service.database;
    let ms = Date.now();
    const now = () => new Date(ms++);
    const artifacts = new ArtifactStore({ db, now });
    const store = new RefreshReplyStore({ db, artifacts, secretBox: createSecretBox('x'.repeat(32)), now });
    const isConsumed = async (token: string) => (await artifacts.find('RefreshToken', token))?.consumed !== undefined;
    const [fresh, used] = ['a fresh token', 'a used token'];
    for (const token of [fresh, used]) await artifacts.put('RefreshToken', token, {}, new Date(Date.now() + 60_000));
    await artifacts.consume('RefreshToken', used);
    for (const token of [fresh, used]) {
      const admission = await store.admit(token, 'client');
      if (token === fresh) await artifacts.consume('RefreshToken', token);
      await store.release(token, (admission as { holder: string }).holder);
    }
    expect([await isConsumed(fresh), await isConsumed(used)]).toEqual([false, true]);
  });

  it('keeps its answer encrypted', async () => {
    const { client, refreshToken } = await authorized();
    const { body } = await client.refresh(refreshToken);
    const stored = JSON.stringify(await replies().find().toArray());
    for (const secret of [refreshToken, body.refresh_token, body.access_token]) expect(stored).not.toContain(secret);
  });
});
