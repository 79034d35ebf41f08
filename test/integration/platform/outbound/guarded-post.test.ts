import http from 'node:http';
import { createServer as createTlsHttp } from 'node:https';
import { createServer as createRaw, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type PostRequest, postGuarded, type ResolveHostname } from '../../../../src/platform/outbound/guarded.ts';
import { selfSigned } from '../../../support/webhooks/certificate.ts';
import { answering, listening, startReceiver } from '../../../support/webhooks/receiver.ts';

const PUBLIC = ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'];
const leadsTo = (...addresses: string[]) => vi.fn<ResolveHostname>(async () => addresses);
const refused = expect.objectContaining({ code: 'INPUT_INVALID', field: 'url' });
const unreachable = (reason: unknown = expect.any(String)) =>
  expect.objectContaining({ code: 'TARGET_UNREACHABLE', retryable: true, details: { reason } });

function post(url: string, more: Partial<Omit<PostRequest, 'rules'>> & { resolve?: ResolveHostname; allowLocal?: boolean } = {}) {
  const { resolve = leadsTo('127.0.0.1'), allowLocal = true, ...rest } = more;
  return postGuarded({ url, headers: {}, body: '{}', timeoutMs: 5_000, rules: { allowLocal, resolve }, ...rest });
}

async function closing<T extends { close(): Promise<void> }>(opened: Promise<T>): Promise<T> {
  const server = await opened;
  onTestFinished(server.close);
  return server;
}

afterEach(() => vi.restoreAllMocks());

describe('a receiver', () => {
  it('receives body and headers under the requested name, and its status is returned', async () => {
    const { port, received } = await closing(startReceiver(202));
    const { status, durationMs: ms } = await post(`http://localhost:${port}/hook?to=me`, {
      headers: { 'Content-Type': 'text/plain', Host: 'elsewhere', Connection: 'close' },
      body: 'grüße',
    });
    expect(status).toBe(202);
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(received).toEqual([expect.objectContaining({ method: 'POST', path: '/hook?to=me', body: 'grüße' })]);
    const { headers } = received[0]!;
    expect(headers).toMatchObject({ host: `localhost:${port}`, 'content-type': 'text/plain', 'content-length': '7', connection: 'close' });
  });

  it.each([204, 301, 307, 404, 429, 500, 503])('that answers %i has answered', async (status) => {
    const { url } = await closing(startReceiver(status));
    expect(await post(url)).toMatchObject({ status });
  });

  it.each([
    ['seconds', { 'Retry-After': '120' }, 120],
    ['a date, by its own clock', { 'Retry-After': 'Wed, 01 Jan 2020 00:02:00 GMT', Date: 'Wed, 01 Jan 2020 00:00:30 GMT' }, 90],
    ['a date that has passed', { 'Retry-After': 'Wed, 01 Jan 2020 00:00:00 GMT', Date: 'Wed, 01 Jan 2020 00:00:30 GMT' }, 0],
    ['a date beside a time that is none', { 'Retry-After': 'Wed, 01 Jan 2020 00:00:00 GMT', Date: 'soon' }, null],
    ['words', { 'Retry-After': 'soon' }, null],
    ['a negative number', { 'Retry-After': '-5' }, null],
    ['a number beyond all bounds', { 'Retry-After': '9'.repeat(400) }, null],
    ['nothing', {}, null],
  ])('that asks for time in %s is understood', async (_how, headers, retryAfterSeconds) => {
    const { port } = await closing(answering((_request, response) => response.writeHead(429, headers as Record<string, string>).end()));
    expect(await post(`http://127.0.0.1:${port}/`)).toEqual({ status: 429, durationMs: expect.any(Number), retryAfterSeconds });
  });

  it('that points elsewhere is not followed', async () => {
    const other = await closing(startReceiver(200));
    const { port } = await closing(answering((_request, response) => response.writeHead(302, { Location: `${other.url}/x` }).end()));
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 302 });
    expect(other.received).toEqual([]);
  });

  it('sets no cookie, and gets a connection of its own each time', async () => {
    const ports: (number | undefined)[] = [];
    const cookies: unknown[] = [];
    const { port } = await closing(
      answering((request, response) => {
        ports.push(request.socket.remotePort);
        cookies.push(request.headers.cookie);
        response.writeHead(200, { 'Set-Cookie': 'a=b', Connection: 'keep-alive' }).end('ok');
      }),
    );
    for (let call = 0; call < 3; call++) await post(`http://127.0.0.1:${port}/`);
    expect(new Set(ports).size).toBe(3);
    expect(cookies).toEqual([undefined, undefined, undefined]);
  });

  it('on IPv6 is reached by its address and by a name', async () => {
    const hosts: unknown[] = [];
    const { port } = await closing(answering((request, response) => response.end(String(hosts.push(request.headers.host))), '::1'));
    expect(await post(`http://[::1]:${port}/`)).toMatchObject({ status: 200 });
    expect(await post(`http://localhost:${port}/`, { resolve: leadsTo('::1') })).toMatchObject({ status: 200 });
    expect(hosts).toEqual([`[::1]:${port}`, `localhost:${port}`]);
  });

  it('is called past the proxy that all other calls of this process take', async () => {
    const proxy = await closing(startReceiver(200));
    const before = http.globalAgent;
    http.globalAgent = new http.Agent({ proxyEnv: { HTTP_PROXY: proxy.url } });
    onTestFinished(() => {
      http.globalAgent = before;
    });
    const { url, received } = await closing(startReceiver(200));
    await new Promise((done) => http.get('http://hooks.example.com/', done));
    await post(url);
    expect([received.length, proxy.received.length]).toEqual([1, 1]);
  });
});

describe('a receiver that does not answer as it should', () => {
  it('is given up on at the deadline', async () => {
    const { port } = await closing(answering(() => undefined));
    await expect(post(`http://127.0.0.1:${port}/`, { timeoutMs: 100 })).rejects.toEqual(unreachable('ETIMEDOUT'));
  });

  it('is given up on when the caller ends', async () => {
    const asked = Promise.withResolvers<void>();
    const { port } = await closing(answering(() => asked.resolve()));
    const controller = new AbortController();
    const posted = post(`http://127.0.0.1:${port}/`, { signal: controller.signal });
    void asked.promise.then(() => controller.abort());
    await expect(posted).rejects.toEqual(unreachable('ETIMEDOUT'));
    await expect(post(`http://127.0.0.1:${port}/`, { signal: controller.signal })).rejects.toEqual(unreachable('ETIMEDOUT'));
  });

  it('is not waited for by a look-up beyond the deadline', async () => {
    const never: ResolveHostname = () => new Promise(() => undefined);
    await expect(post('https://hooks.example.com/', { resolve: never, timeoutMs: 50 })).rejects.toEqual(unreachable('ETIMEDOUT'));
  });

  it('has answered with its status, though the rest never comes', async () => {
    const { port } = await closing(answering((_request, response) => response.writeHead(200).write('a')));
    expect(await post(`http://127.0.0.1:${port}/`, { timeoutMs: 200 })).toMatchObject({ status: 200 });
  });

  it('has answered with its status, though the rest breaks off', async () => {
    const { port } = await closing(
      answering((_request, response) => {
        response.writeHead(503, { 'Content-Length': 100 }).write('a', () => response.socket!.destroy());
      }),
    );
    expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 503 });
  });

  it('is cut off where its answer has no end', async () => {
    const { port } = await closing(
      answering((_request, response) => {
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(1_024)));
        };
        response.writeHead(200).on('drain', more);
        more();
      }),
    );
    // No deadline would end it within this test.
    expect(await post(`http://127.0.0.1:${port}/`, { timeoutMs: 600_000 })).toMatchObject({ status: 200 });
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6 secret\r\n', 'HPE_INVALID_CONSTANT'],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'X-A: secret\r\n'.repeat(2_000)}`, 'HPE_HEADER_OVERFLOW'],
    ['nothing', '', 'ECONNRESET'],
  ])('%s is no answer, and none of it is repeated', async (_what, bytes, reason) => {
    const { port } = await closing(listening(createRaw((socket) => socket.once('data', () => socket.end(bytes)))));
    const error = await post(`http://127.0.0.1:${port}/`).catch((caught: unknown) => caught);
    expect(error).toEqual(unreachable(reason));
    expect(error).not.toHaveProperty('cause');
    expect(JSON.stringify(error) + String((error as Error).message)).not.toMatch(/secret|SSH/);
  });

  it('is not there', async () => {
    const { port, close } = await startReceiver(200);
    await close();
    await expect(post(`http://127.0.0.1:${port}/`)).rejects.toEqual(unreachable('ECONNREFUSED'));
  });

  it('has no address at present', async () => {
    await expect(post('https://hooks.example.com/', { resolve: leadsTo() })).rejects.toEqual(unreachable('ENOTFOUND'));
  });
});

describe('where a call goes', () => {
  it.each([
    ['a name that leads to this machine', 'https://hooks.example.com/', ['127.0.0.1']],
    ['a name that leads there too', 'https://hooks.example.com/', [PUBLIC[0]!, '127.0.0.1']],
    ['an IPv4-mapped address', 'https://hooks.example.com/', ['::ffff:7f00:1']],
    ['an address behind NAT64', 'https://hooks.example.com/', ['64:ff9b::7f00:1']],
    ['a private network', 'https://hooks.example.com/', ['10.0.0.7']],
    ['where clouds keep their keys', 'https://hooks.example.com/', ['169.254.169.254']],
    ['an address of this machine', 'https://127.0.0.1/', []],
    ['the same as a number', 'https://2130706433/', []],
    ['the same in IPv6', 'https://[::1]/', []],
    ['plain http', 'http://hooks.example.com/', PUBLIC],
  ])('not to %s', async (_what, url, addresses) => {
    const connect = vi.spyOn(Socket.prototype, 'connect');
    await expect(post(url, { allowLocal: false, resolve: leadsTo(...addresses) })).rejects.toEqual(refused);
    expect(connect).not.toHaveBeenCalled();
  });

  it('is what was checked, though the name leads to this machine a moment later', async () => {
    const { port, received } = await closing(startReceiver(200));
    const resolve = vi.fn<ResolveHostname>(async () => ['127.0.0.1']).mockResolvedValueOnce(PUBLIC);
    const asked = vi.spyOn(Socket.prototype, 'connect').mockImplementation(refuseConnection);
    await expect(post(`https://hooks.example.com:${port}/`, { allowLocal: false, resolve })).rejects.toEqual(unreachable('ENETUNREACH'));
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(await addressesOf(asked.mock.calls[0])).toEqual(PUBLIC);
    asked.mockRestore();
    await expect(post(`https://hooks.example.com:${port}/`, { allowLocal: false, resolve })).rejects.toEqual(refused);
    expect(received).toEqual([]);
  });

  it('is what was checked, whatever the system says about the name', async () => {
    const { port, received } = await closing(startReceiver(200));
    // A name that the system does not know: only what was checked can lead to the receiver.
    expect(await post(`http://nowhere.invalid:${port}/`)).toMatchObject({ status: 200 });
    expect(received).toHaveLength(1);
  });
});

describe('over TLS', () => {
  async function tlsReceiver(names: string[], trusted: boolean) {
    const { cert, key } = selfSigned(names);
    const before = getCACertificates('default');
    if (trusted) setDefaultCACertificates([...before, cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const asked: unknown[] = [];
    const server = createTlsHttp({ cert, key }, (request, response) => {
      asked.push((request.socket as TLSSocket & { servername?: unknown }).servername);
      response.end();
    });
    return { ...(await closing(listening(server))), asked };
  }

  it('a certificate that is valid for the name is taken, and the name is what the receiver is asked for', async () => {
    const { port, asked } = await tlsReceiver(['hooks.example.com'], true);
    expect(await post(`https://hooks.example.com:${port}/`)).toMatchObject({ status: 200 });
    expect(await post(`https://hooks.example.com.:${port}/`)).toMatchObject({ status: 200 });
    expect(asked).toEqual(['hooks.example.com', 'hooks.example.com']);
  });

  it('a certificate for an address is taken for that address', async () => {
    const { port, asked } = await tlsReceiver(['127.0.0.1'], true);
    expect(await post(`https://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect(asked).toEqual([false]);
  });

  it.each([
    ['for another name', ['other.example.com'], true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that nobody vouches for', ['hooks.example.com'], false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('a certificate %s is rejected', async (_what, names, trusted, reason) => {
    const { port, asked } = await tlsReceiver(names, trusted);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const error = await post(`https://hooks.example.com:${port}/`).catch((caught: unknown) => caught);
    expect(error).toEqual(unreachable(reason));
    expect(String(error)).not.toContain('other.example.com');
    expect(asked).toEqual([]);
  });

  it('a receiver without it is no answer', async () => {
    const { port } = await closing(startReceiver(200));
    await expect(post(`https://hooks.example.com:${port}/`)).rejects.toEqual(unreachable('EPROTO'));
  });
});

function refuseConnection(this: Socket): Socket {
  queueMicrotask(() => this.destroy(Object.assign(new Error('no network'), { code: 'ENETUNREACH' })));
  return this;
}

type Connection = {
  host: string;
  lookup(host: string, options: { all: true }, done: (error: unknown, found: { address: string }[]) => void): void;
};

/** Where a connection that was asked for would have gone. */
function addressesOf(call: unknown[] | undefined): Promise<string[]> {
  const [options] = [call?.[0]].flat() as [Connection];
  return new Promise((done) => options.lookup(options.host, { all: true }, (_error, found) => done(found.map(({ address }) => address))));
}
