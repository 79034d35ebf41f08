import { connect } from 'node:tls';

export interface ServedCertificate {
  subject: string;
  validTo: Date;
}

/** The certificate of a server that the operator names, which must be valid for its name. @throws Error of TLS or the connection */
export function readCertificate({ hostname, port }: { hostname: string; port: number }, timeoutMs: number): Promise<ServedCertificate> {
  const { promise, resolve, reject } = Promise.withResolvers<ServedCertificate>();
  const socket = connect({ host: hostname, port, servername: hostname, rejectUnauthorized: true, timeout: timeoutMs }, () => {
    const { subject, valid_to: validTo } = socket.getPeerCertificate();
    resolve({ subject: String(subject?.CN ?? hostname), validTo: new Date(validTo) });
  });
  socket.once('timeout', () => reject(new Error(`no answer within ${timeoutMs} ms`)));
  socket.once('error', reject);
  return promise.finally(() => socket.destroy());
}
