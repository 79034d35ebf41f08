import express from 'express';

/** Whether the peer of a socket is a proxy of `TRUST_PROXY`: with a number of hops every peer is. */
export function createProxyCheck(trustProxy: number | readonly string[] = 0): (remoteAddress: string) => boolean {
  const app = express().set('trust proxy', trustProxy);
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return (remoteAddress) => remoteAddress !== '' && trusts(remoteAddress, 0);
}
