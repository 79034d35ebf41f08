// Answers this week's question by a signature, without gas or balance: npx node examples/contest/commit.ts [62] [--print]
// The number is your probability in percent. As PRIVATE_KEY, or as a new wallet. --print signs and sends nothing.
import { parseArgs } from 'node:util';
import type { Hex, TypedData, TypedDataDomain } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ask, post } from '../common/service.ts';

interface Contest {
  openRound: { deadline: string; markets: { market: string; question: string }[] } | null;
  /** What a wallet signs, less the message (EIP-712). */
  signing: { domain: TypedDataDomain; types: TypedData; primaryType: string };
}

const { values, positionals } = parseArgs({ options: { print: { type: 'boolean' } }, allowPositionals: true });
const percent = Number(positionals[0] ?? 62);
const account = privateKeyToAccount((process.env.PRIVATE_KEY as Hex) || generatePrivateKey());
const { openRound, signing } = await ask<Contest>('/api/svc/clawstake/status');
if (openRound === null) throw new Error('No round is open now: the next one is listed on Monday, 00:00 UTC');
// The strikes are in order; the middle one is nearest to the price.
const { market, question } = openRound.markets[Math.floor(openRound.markets.length / 2)];

// The one with the latest time stands, until the deadline; one that is not later is refused.
const commitment = { market, wallet: account.address, probabilityBps: Math.round(percent * 100), issuedAtMs: Date.now() };
const signature = await account.signTypedData({ ...signing, message: commitment });
const body = { ...commitment, signature };

if (values.print) console.log(JSON.stringify(body));
else {
  await ask('/api/svc/prestake/commit', post(body));
  console.log(`${question} ${percent} %`);
  console.log(`Committed by ${account.address}; hidden, and a later one replaces it until ${openRound.deadline}`);
}
