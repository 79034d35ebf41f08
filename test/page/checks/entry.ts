import type { Address } from 'viem';
import { type AuditReport, audit } from '../../../src/audit/audit.ts';
import { createServiceClaims } from '../../../src/audit/service-claims.ts';
import { requestApi } from '../../../src/page/browser/api.ts';
import { checkRows } from '../../../src/page/browser/check.ts';
import { openRecordChain } from '../../../src/page/browser/record-chain.ts';
import type { ApiResponses, ScorecardRow } from '../../../src/page/browser/responses.ts';

export type PageInfo = ApiResponses['info'];

interface RecordRequest {
  info: PageInfo;
  /** Instant of the check, in milliseconds. */
  nowMs: number;
  /** Whether the claims of the service are compared with the record. */
  withClaims: boolean;
}

interface RowRequest {
  info: PageInfo;
  horizon: number;
  rows: readonly ScorecardRow[];
  date: string;
}

const { signal } = new AbortController();
const buildEndpoint = () => new URL('rpc', document.baseURI).href;

/** What the buttons of the page run, without its user interface. */
const checks = {
  async checkRecord({ info, nowMs, withClaims }: RecordRequest): Promise<AuditReport['differences']> {
    const chain = await openRecordChain({ info, endpoint: buildEndpoint(), signal });
    const claims = withClaims ? createServiceClaims(document.baseURI.replace(/\/+$/, ''), requestApi) : null;
    const attester = info.chain.attester as Address;
    return (await audit({ chain, attester, prices: null, claims, now: new Date(nowMs), signal })).differences;
  },

  /** The summary of the row of that date. */
  async checkRow({ info, horizon, rows, date }: RowRequest): Promise<string> {
    const found = Promise.withResolvers<string>();
    await checkRows({
      ...{ info, endpoint: buildEndpoint(), token: null, signal, shown: { horizon, known: rows } },
      rows: rows.filter((row) => row.date === date),
      onFinding: (_, { summary }) => found.resolve(summary),
    });
    return found.promise;
  },
};

declare global {
  var pageChecks: PageChecks;
}

export type PageChecks = typeof checks;
globalThis.pageChecks = checks;
