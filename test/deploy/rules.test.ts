import { expect, it } from 'vitest';
import { ALERTS } from '../support/deploy/alerts.ts';
import { DEPLOY, deployYaml } from '../support/deploy/deploy-yaml.ts';
import { describeWithPrograms, runProgram } from '../support/deploy/programs.ts';

describeWithPrograms('deploy/prometheus, read by promtool', ['promtool'], ({ promtool }) => {
  const check = (...words: string[]) => runProgram(promtool, words, `${DEPLOY}/prometheus`);

  it('has a configuration that Prometheus accepts', async () => {
    expect(await check('check', 'config', 'prometheus.yaml')).toContain('is valid prometheus config file syntax');
  });

  it('has a rule for each alert of the runbook', async () => {
    expect(await check('check', 'rules', '--lint=all', '--lint-fatal', 'rules.yaml')).toContain(`SUCCESS: ${ALERTS.length} rules found`);
  });

  it('fires each alert in its case, and is silent in the one beside it', async () => {
    const { tests } = deployYaml('prometheus/rules.test.yaml');
    expect(tests).toHaveLength(2 * ALERTS.length);
    expect(await check('test', 'rules', 'rules.test.yaml')).toContain('SUCCESS');
  });
});

describeWithPrograms('deploy/alertmanager, read by amtool', ['amtool'], ({ amtool }) => {
  const config = '--config.file=alertmanager/alertmanager.yaml';

  it('has a configuration that Alertmanager accepts', async () => {
    expect(await runProgram(amtool, ['check-config', 'alertmanager/alertmanager.yaml'], DEPLOY)).toContain('SUCCESS');
  });

  it.each([
    ['page', 'page'],
    ['ticket', 'ticket'],
  ])('sends an alert of severity %s to %s', async (severity, receiver) => {
    const sent = await runProgram(amtool, ['config', 'routes', 'test', config, `severity=${severity}`, 'alertname=Oracle'], DEPLOY);
    expect(sent.trim()).toBe(receiver);
  });
});

it('wakes a person for at most 25 of them', () => {
  const rules = deployYaml('prometheus/rules.yaml').groups.flatMap((group: { rules: { labels: { severity: string } }[] }) => group.rules);
  const severities = Object.groupBy(rules as { labels: { severity: string } }[], ({ labels }) => labels.severity);
  expect(severities.page!.length).toBeLessThanOrEqual(25);
  expect(Object.keys(severities).toSorted()).toEqual(['page', 'ticket']);
});

it('inhibits alerts that there are, by alerts that there are', () => {
  const ids = ALERTS.map(({ id }) => id);
  const { inhibit_rules: rules } = deployYaml('alertmanager/alertmanager.yaml');
  const matchers: string[] = rules.flatMap((rule: Record<string, string[]>) => [...rule.source_matchers, ...rule.target_matchers]);
  const named = matchers.flatMap((matcher) => /"(.*)"/.exec(matcher)![1]!.split('|'));
  expect(named.length).toBeGreaterThan(8);
  expect(ids).toEqual(expect.arrayContaining(named));
});
