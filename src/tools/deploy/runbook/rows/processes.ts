import { REFUSED_START, type RunbookRow } from '../runbook-row.ts';

export const PROCESS_ROWS: readonly RunbookRow[] = [
  {
    seen: 'no answer at `/health` or `/metrics`',
    means: 'a process has ended, cannot start or does not answer',
    action: 'Read the end of its log: a start that is refused says why, in the rows below. Start it again; nothing is done twice',
    alerts: [
      {
        id: 'OracleProcessDown',
        expr: 'up{job=~"oracle-.+"} == 0',
        for: '3m',
        severity: 'page',
        summary: '{{ $labels.instance }} does not answer its scraper',
        panel: 'processes',
        fires: { at: '4m', series: { 'up{job="oracle-api",instance="a"}': '0x10' }, labels: { job: 'oracle-api', instance: 'a' } },
        silent: { at: '4m', series: { 'up{job="oracle-api",instance="a"}': '0x2 1x10', 'up{job="other",instance="b"}': '0x10' } },
      },
      {
        id: 'OracleApiAbsent',
        expr: 'absent(up{job="oracle-api"} == 1)',
        for: '3m',
        severity: 'page',
        summary: 'No API process answers',
        panel: 'processes',
        fires: { at: '4m', series: { 'up{job="oracle-api",instance="a"}': '0x10' } },
        silent: { at: '4m', series: { 'up{job="oracle-api",instance="a"}': '0x10', 'up{job="oracle-api",instance="b"}': '1x10' } },
      },
    ],
  },
  {
    seen: '503 at `/ready`',
    means: 'a check is not met; during a first start, history is fetched',
    action: '`checks` there says which of `setup`, `database`, `clock`, `chain`, `price`, and why',
    alerts: [
      {
        id: 'OracleNotReady',
        expr: 'min by (instance) (oracle_ready) == 0',
        for: '10m',
        severity: 'page',
        summary: '{{ $labels.instance }} is not ready for 10 minutes',
        panel: 'readiness',
        fires: { at: '11m', series: { 'oracle_ready{instance="a"}': '0x20' }, labels: { instance: 'a' } },
        silent: { at: '11m', series: { 'oracle_ready{instance="a"}': '0x8 1x10' } },
      },
    ],
  },
  {
    seen: '`level` 50 in the log',
    means: 'an error that the service cannot mend by itself',
    action: 'Look its `msg` up in this table',
    alerts: [
      {
        id: 'OracleErrorsLogged',
        expr: 'sum by (instance) (increase(oracle_log_lines_total{level=~"error|fatal"}[15m])) > 0',
        for: '0m',
        severity: 'ticket',
        summary: '{{ $labels.instance }} has logged an error',
        panel: 'log',
        fires: { at: '30m', series: { 'oracle_log_lines_total{level="error",instance="a"}': '0x20 1x20' }, labels: { instance: 'a' } },
        silent: {
          at: '30m',
          series: {
            'oracle_log_lines_total{level="error",instance="a"}': '1x40',
            'oracle_log_lines_total{level="warn",instance="a"}': '0+1x40',
          },
        },
      },
    ],
  },
  {
    seen: '`could not close in time or in order`',
    means: 'a stop took too long; the process ended with 1',
    action: 'Nothing: the next start goes on where it stood, after a kill as well',
    alerts: [],
    unmeasured: 'the process has ended',
  },
  {
    seen: '`does not open what the record has committed to`',
    means: "the start: another `SALT_SECRET` than the record's",
    action: 'Set the former one. There is no other way on',
    ...REFUSED_START,
  },
  {
    seen: '`does not open what the database holds`',
    means: 'the start: another `ENCRYPTION_SECRET`',
    action: 'Set the former one, or change it as [above](#keys)',
    ...REFUSED_START,
  },
  {
    seen: '`Use the key that registered the agent`',
    means: 'the start: another `ATTESTER_PRIVATE_KEY`, or the identity was given away',
    action: 'Set the former one; change it as [above](#keys)',
    ...REFUSED_START,
  },
  {
    seen: '`that this database knows nothing of`',
    means: 'the start: the attester owns an agent, and this database has sent nothing on that chain',
    action:
      'Set the `MONGODB_URI` of the record, or restore its [backup](#backup-and-restore). An agent that another wallet has transferred to the attester: transfer it away. A new record needs a new attester',
    ...REFUSED_START,
  },
  {
    seen: '`the database is older than the chain`',
    means:
      "the start: forecasts are attested that it does not have, or has otherwise: an old backup, or another party has the attester's key",
    action:
      'Nothing was sent. Start with the database of the record, or [restore](#backup-and-restore) a newer copy. Was none restored, the key has [leaked](#keys)',
    ...REFUSED_START,
  },
  {
    seen: '`Reading attestation events … failed`',
    means: 'read where the attester has sent what is not in the database; the endpoint refuses 5,000 blocks, or old ones',
    action:
      "Another `CHAIN_RPC_URL` that answers `eth_getLogs` over 5,000 blocks, until the attester's next transaction; then the former one does again",
    alerts: [],
    see: ['OracleForecastAtRisk'],
  },
  {
    seen: '`must not be the key of`',
    means: 'the start: two roles have one key',
    action: 'A wallet of its own for the role that is named: see [above](#keys)',
    ...REFUSED_START,
  },
  {
    seen: '`settings cannot be used`, `can be guessed: it repeats itself or is made of words`',
    means: 'the start: settings that are fit for a demonstration only',
    action: 'Make new ones as [above](#keys). A record whose `SALT_SECRET` is refused can be read by trial: begin a new one',
    ...REFUSED_START,
  },
  {
    seen: '`this record was made from`',
    means: "the start: another `FEEDS` than the record's",
    action: 'Set the former one',
    ...REFUSED_START,
  },
  {
    seen: '`but the RPC endpoint serves chain`',
    means: 'the start: `CHAIN_ID` and the endpoint differ',
    action: 'Set the right endpoint',
    ...REFUSED_START,
  },
];
