import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ROOT } from '../docs/documents.ts';

export interface AlertRule {
  id: string;
  /** PromQL. */
  expr: string;
}

/** A file of deploy/. */
export const deployText = (path: string) => readFileSync(resolve(ROOT, 'deploy', path), 'utf8');

const RULE = /- alert: (\w+)\n +expr: (?:"(.*)"|'(.*)')\n/g;

/** The rules of deploy/prometheus/rules.yaml, each with its expression on one line. */
export const ALERTS: readonly AlertRule[] = [...deployText('prometheus/rules.yaml').matchAll(RULE)].map(([, id, escaped, plain]) => ({
  id: id!,
  expr: escaped === undefined ? plain! : JSON.parse(`"${escaped}"`),
}));
