import { renderDashboard } from './render/dashboard.ts';
import { renderRuleTests } from './render/rule-tests.ts';
import { renderRules } from './render/rules.ts';

const GENERATED = '# Generated from src/tools/deploy by npm run docs:tables. Do not edit.\n';

/** Generated files of `deploy/` by their path from the root of the repository. */
export function buildDeployFiles(): Record<string, string> {
  return {
    'deploy/prometheus/rules.yaml': `${GENERATED}${renderRules()}`,
    'deploy/prometheus/rules.test.yaml': `${GENERATED}${renderRuleTests()}`,
    'deploy/grafana/dashboards/oracle.json': renderDashboard(),
  };
}
