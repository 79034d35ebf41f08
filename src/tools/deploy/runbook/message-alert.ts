import type { WatchedMessage } from '../../../app/metrics/watched-messages.ts';
import type { Alert } from './runbook-row.ts';

export interface MessageAlertOptions extends Pick<Alert, 'id' | 'severity' | 'summary'> {
  message: WatchedMessage;
  /** Lines within 15 minutes that are no alert. Default: none. */
  above?: number;
  panel?: Alert['panel'];
}

/** Fires once all processes together have logged a message more often than `above` within 15 minutes. */
export function alertOnMessage({ message, above = 0, panel = 'log', ...alert }: MessageAlertOptions): Alert {
  const series = `oracle_log_messages_total{message="${message}",instance="a"}`;
  const count = above + 2;
  // A count that stands still is that of an earlier time.
  const silent = above === 0 ? `${count}x60` : `0x20 ${above - 1}x30`;
  return {
    ...alert,
    expr: `sum(increase(oracle_log_messages_total{message="${message}"}[15m])) > ${above}`,
    for: '0m',
    panel,
    fires: { at: '30m', series: { [series]: `0x20 ${count}x30` } },
    silent: { at: '30m', series: { [series]: silent } },
  };
}
