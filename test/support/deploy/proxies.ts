import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { ROOT } from '../docs/documents.ts';
import { removeFolder } from '../docs/folders.ts';
import { findFreePort } from '../http/serve.ts';
import { selfSigned } from '../webhooks/certificate.ts';

/** In the certificate and in PUBLIC_URL. */
export const PROXY_HOST = 'oracle.example.org';

export type ProxyName = 'nginx' | 'caddy';

export interface RunningProxy {
  port: number;
  /** Everything that it has logged. */
  readLog(): Promise<string>;
  stop(): Promise<void>;
}

interface Place {
  folder: string;
  port: number;
  /** `host:port` of each process. */
  upstreams: readonly string[];
}

const readShipped = (name: string) => readFileSync(join(ROOT, 'deploy', name), 'utf8');

/** The shipped files, with names of the machine replaced: addresses, certificate, folders. */
const WRITERS: Record<ProxyName, (place: Place) => { config: string; words: string[]; environment: Record<string, string> }> = {
  nginx({ folder, port, upstreams }) {
    const shipped = readShipped('nginx/oracle.conf')
      .replace('listen 443', `listen 0.0.0.0:${port}`)
      .replaceAll('/etc/ssl', folder)
      .replace('/var/log/nginx/oracle.log', `${folder}/access.log`)
      .replace(/ {2}server 127\.0\.0\.1:3000([^\n]*)\n[^\n]*\n/, (_, options) =>
        upstreams.map((one) => `  server ${one}${options}\n`).join(''),
      );
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
    const head = `${process.getuid?.() === 0 ? 'user root; ' : ''}pid ${folder}/pid; error_log stderr;\nevents {}\n`;
    const config = `${head}http { access_log off;\n${temporary}\n${shipped}}`;
    return { config, words: ['-c', join(folder, 'config'), '-e', 'stderr', '-g', 'daemon off;'], environment: {} };
  },
  caddy({ folder, port, upstreams }) {
    const config = readShipped('caddy/Caddyfile')
      .replace('{\n', '{\n\tadmin off\n\tauto_https disable_redirects\n')
      .replace('{$PUBLIC_URL} {', `{$PUBLIC_URL}:${port} {\n\ttls ${folder}/oracle.pem ${folder}/oracle.key`);
    const environment = { PUBLIC_URL: `https://${PROXY_HOST}`, ORACLE_UPSTREAMS: upstreams.join(' ') };
    return { config, words: ['run', '--config', join(folder, 'config'), '--adapter', 'caddyfile'], environment };
  },
};

/** Starts the program with the shipped file; resolves once it answers. Rejects with its output when it ends before. */
export async function startProxy(name: ProxyName, program: string, upstreams: readonly string[]): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'oracle-proxy-'));
  const { cert, key } = selfSigned([PROXY_HOST]);
  await Promise.all([writeFile(join(folder, 'oracle.pem'), cert), writeFile(join(folder, 'oracle.key'), key)]);
  const port = await findFreePort();
  const { config, words, environment } = WRITERS[name]({ folder, port, upstreams });
  await writeFile(join(folder, 'config'), config);
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: process.env.PATH, HOME: folder, ...environment } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  while (!(await answers(port))) if (child.exitCode !== null) throw new Error(output);
  return {
    port,
    readLog: async () => output + (await readFile(join(folder, 'access.log'), 'utf8').catch(() => '')),
    async stop() {
      await end(child);
      await removeFolder(folder);
    },
  };
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((ended) => {
    child.once('exit', () => ended());
    child.kill('SIGKILL');
  });
}

function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: '127.0.0.1', port, servername: PROXY_HOST, rejectUnauthorized: false });
  socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}
