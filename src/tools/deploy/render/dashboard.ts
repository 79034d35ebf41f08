import { PANELS, type Panel, type PanelId } from '../panels.ts';
import { ALERTS } from '../runbook/runbook.ts';

const COLUMNS = 24;
const WIDTH = 6;
const HEIGHT = 7;
const DATASOURCE = { type: 'prometheus', uid: 'oracle-prometheus' };

/** The dashboard in Grafana's JSON model: a row of panels for each topic. */
export function renderDashboard(): string {
  const rows = Object.groupBy(Object.entries(PANELS) as [PanelId, Panel][], ([, { row }]) => row);
  let y = 0;
  let nextId = 1;
  const panels = Object.entries(rows).flatMap(([title, members]) => {
    const heading = { id: nextId++, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: COLUMNS, h: 1 }, panels: [] };
    const top = y + 1;
    const placed = members!.map(([id, panel], index) => {
      const gridPos = { x: (index * WIDTH) % COLUMNS, y: top + Math.floor((index * WIDTH) / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT };
      return buildPanel({ id: nextId++, name: id, panel, gridPos });
    });
    y = top + Math.ceil((members!.length * WIDTH) / COLUMNS) * HEIGHT;
    return [heading, ...placed];
  });
  const dashboard = {
    uid: 'bitcoin-signal-oracle',
    title: 'Bitcoin Signal Oracle',
    tags: ['oracle'],
    timezone: 'utc',
    refresh: '30s',
    schemaVersion: 39,
    editable: true,
    time: { from: 'now-24h', to: 'now' },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

interface PlacedPanel {
  id: number;
  name: PanelId;
  panel: Panel;
  gridPos: { x: number; y: number; w: number; h: number };
}

function buildPanel({ id, name, panel: { title, unit, queries }, gridPos }: PlacedPanel) {
  const alerts = ALERTS.filter(({ panel }) => panel === name).map((alert) => `${alert.id}: ${alert.expr} for ${alert.for}`);
  return {
    id,
    type: 'timeseries',
    title,
    description: alerts.join('\n\n'),
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}
