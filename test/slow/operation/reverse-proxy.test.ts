import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { documentText } from '../../support/docs/documents.ts';
import { removeFolder } from '../../support/docs/folders.ts';
import { selfSigned } from '../../support/webhooks/certificate.ts';

const NAME = 'oracle.example.org';
const [, nginx] = /```nginx\n(.*?)```/s.exec(documentText('docs/OPERATE.md'))!;
const [, caddy] = /```caddyfile\n(.*?)```/s.exec(documentText('docs/OPERATE.md'))!;

function programAt(path: string | undefined, name: string): string | undefined {
  try {
    return path ?? execFileSync('/bin/sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${name}`], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

/** The service's place: says what reached it, and sends a stream of which only the beginning comes. */
function startUpstream(): Promise<Server> {
  const server = createServer((incoming, response) => {
    const { host, 'x-forwarded-for': forwardedFor } = incoming.headers;
    if (incoming.url === '/stream') return void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
    incoming.resume().on('end', () => response.end(JSON.stringify({ host, forwardedFor })));
  });
  const sockets = new WebSocketServer({ server, path: '/ws/signal' });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  return new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(server)));
}

const PROXIES = [
  {
    name: 'nginx',
    program: programAt(process.env.NGINX_PATH, 'nginx'),
    limitsConnections: true,
    write: (folder: string, port: number, upstream: number) =>
      `${process.getuid?.() === 0 ? 'user root; ' : ''}pid ${folder}/pid; error_log stderr;\nevents {}\nhttp { access_log off;\n${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}\n${nginx
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replaceAll('/etc/ssl', folder)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${upstream}`)}}`,
    words: (file: string) => ['-c', file, '-e', 'stderr', '-g', 'daemon off;'],
  },
  {
    name: 'Caddy',
    program: programAt(process.env.CADDY_PATH, 'caddy'),
    limitsConnections: false,
    write: (folder: string, port: number, upstream: number) =>
      caddy
        .replace('{\n  servers', `{\n  admin off\n  auto_https disable_redirects\n  servers`)
        .replace(`${NAME} {`, `https://${NAME}:${port} {\n  bind 127.0.0.1\n  tls ${folder}/oracle.pem ${folder}/oracle.key`)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${upstream}`),
    words: (file: string) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
];

describe.each(PROXIES)('the $name of docs/OPERATE.md, where it is installed', ({ program, write, words, limitsConnections }) => {
  let folder: string;
  let upstream: Server;
  let child: ChildProcess;
  let port: number;
  const agent = new Agent({ keepAlive: false, rejectUnauthorized: false });
  const tls = () => ({ host: '127.0.0.1', port, servername: NAME, rejectUnauthorized: false });

  beforeAll(async () => {
    if (program === undefined) return;
    folder = await mkdtemp(join(tmpdir(), 'oracle-proxy-'));
    const { cert, key } = selfSigned([NAME]);
    await Promise.all([writeFile(join(folder, 'oracle.pem'), cert), writeFile(join(folder, 'oracle.key'), key)]);
    upstream = await startUpstream();
    port = await freePort();
    const file = join(folder, 'config');
    await writeFile(file, write(folder, port, (upstream.address() as AddressInfo).port));
    child = spawn(program, words(file), { stdio: ['ignore', 'inherit', 'pipe'], env: { PATH: process.env.PATH, HOME: folder } });
    let output = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    while (!(await answers(port))) if (child.exitCode !== null) throw new Error(output);
  });
  afterAll(async () => {
    agent.destroy();
    if (program === undefined) return;
    child.kill('SIGTERM');
    upstream.closeAllConnections();
    upstream.close();
    await removeFolder(folder);
  });

  async function ask(options: RequestOptions, body = ''): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; headers: Record<string, unknown>; text: string }>();
    const sent = request({ ...tls(), agent, path: '/', ...options, headers: { host: NAME, ...options.headers } }, async (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (options.path === '/stream') done();
      });
      const done = () => resolve({ status: response.statusCode!, headers: response.headers, text });
      response.on('end', done);
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  it.skipIf(program === undefined)('passes Host on, says who asks whatever the client claims, and adds HSTS', async () => {
    const { status, headers, text } = await ask({ headers: { 'x-forwarded-for': '203.0.113.9' } });
    expect([status, headers['strict-transport-security']]).toEqual([200, 'max-age=63072000']);
    expect(JSON.parse(text)).toEqual({ host: NAME, forwardedFor: '127.0.0.1' });
  });

  it.skipIf(program === undefined)('rejects bodies and heads that are too large', async () => {
    expect((await ask({ method: 'POST' }, 'x'.repeat(60_000))).status).toBe(200);
    expect((await ask({ method: 'POST' }, 'x'.repeat(70_000)).catch(() => ({ status: 413 }))).status).toBeGreaterThanOrEqual(400);
    const head = { headers: { 'x-long': 'x'.repeat(40_000) } };
    expect((await ask(head).catch(() => ({ status: 431 }))).status).toBeGreaterThanOrEqual(400);
  });

  it.skipIf(program === undefined)('passes on WebSockets, and streams as they come', async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${port}/ws/signal`, { ...tls(), headers: { host: NAME } });
    const echoed = new Promise((resolve) => socket.once('message', (data) => resolve(String(data))));
    socket.once('open', () => socket.send('hello'));
    expect(await echoed).toBe('hello');
    socket.terminate();
    expect((await ask({ path: '/stream' })).text).toBe('data: first\n\n');
  });

  it.skipIf(program === undefined)('ends a connection whose head never ends', async () => {
    const started = performance.now();
    const socket = connect(tls());
    socket.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nX-`);
    await new Promise((closed) =>
      socket
        .on('error', () => {})
        .once('close', closed)
        .resume(),
    );
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it.skipIf(program === undefined || !limitsConnections)('rejects more connections of an address than configured', async () => {
    const streams = Array.from({ length: 50 }, () => ask({ path: '/stream', agent: false }));
    await Promise.all(streams);
    expect((await ask({})).status).toBe(503);
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

async function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, servername: NAME, rejectUnauthorized: false });
  socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
