import type { Alert } from './runbook-row.ts';

/** What is asked of a service that no Prometheus watches, and the alerts that say the same. Texts are Markdown. */
export interface WatchRow {
  ask: string;
  every: string;
  alarm: string;
  alerts: readonly Alert['id'][];
}

export const WATCH_LIST: readonly WatchRow[] = [
  {
    ask: '`GET /health` of each process',
    every: '1 minute',
    alarm: 'no 200 within 5 s, three times: restart it',
    alerts: ['OracleProcessDown', 'OracleApiAbsent', 'OracleWorkerAbsent'],
  },
  {
    ask: '`GET /ready` of each process',
    every: '1 minute',
    alarm: '503 for 10 minutes: `checks` says which of `setup`, `database`, `clock`, `chain`, `price`, `signers` and why',
    alerts: ['OracleNotReady'],
  },
  {
    ask: '`GET /api/status` of a worker: `schedule`',
    every: '5 minutes',
    alarm: "`nextRunAt` of `catch-up` lies 10 minutes back: no process runs the day's steps",
    alerts: ['OracleScheduleStalled'],
  },
  {
    ask: 'the same: `steps`',
    every: '5 minutes',
    alarm: '`state` is `failed`; or `waiting` for an hour, of `signal` and `attest` for 10 minutes',
    alerts: ['OracleStepFailed', 'OracleStepWaiting', 'OracleForecastAtRisk'],
  },
  {
    ask: 'the same: `record.forecasts.VOID`',
    every: 'each day',
    alarm: 'it has grown: a day is lost',
    alerts: ['OracleDayLost'],
  },
  {
    ask: '`GET /api/svc/onchain-oracle/latest`',
    every: '21:50 UTC',
    alarm: '`date` is not today: there are two hours left',
    alerts: ['OracleDayNotAttested'],
  },
  {
    ask: '`GET /api/self-test/status`',
    every: 'each day',
    alarm: 'a test `failed` or is `overdue`',
    alerts: ['OracleSelfTestFailed', 'OracleSelfTestOverdue'],
  },
  {
    ask: '`GET /api/status`: `wallets`',
    every: 'each day',
    alarm: '`daysLeft` of attester, reporter or provider is under 30; where it is null, see `balanceWei`',
    alerts: ['OracleWalletLow', 'OracleWalletEmpty'],
  },
  {
    ask: '`eth_getBalance` of the facilitator',
    every: 'each day',
    alarm: 'less than thirty days of gas',
    alerts: ['OracleWalletLow', 'OracleWalletEmpty'],
  },
  {
    ask: '`GET /api/status`: `market.archive`',
    every: 'each day',
    alarm: '`failures` grows: the archive has a gap; forecasts are unaffected',
    alerts: ['OracleArchiveGap'],
  },
  { ask: '`npm run -s reconcile`', every: 'each day', alarm: 'it ends with 1', alerts: [] },
  {
    ask: '`npm run -s audit -- --rpc <url> --attester <address> --service <url>`, elsewhere',
    every: 'each week',
    alarm: 'it ends with 1',
    alerts: [],
  },
  {
    ask: 'metric `oracle_backup_age_seconds`',
    every: '1 hour',
    alarm: 'above 100,000: no backup was verified for 28 hours',
    alerts: ['OracleBackupOld'],
  },
  {
    ask: 'metric `oracle_timestamp_pending_seconds`',
    every: '1 hour',
    alarm: 'above 172,800: no Bitcoin block holds the commitments of a day after two days',
    alerts: ['OracleTimestampPending'],
  },
  {
    ask: 'log, `level` 50',
    every: 'as it comes',
    alarm: 'act on each. `level` 40 is worth a look; a change is logged once',
    alerts: ['OracleErrorsLogged'],
  },
];
