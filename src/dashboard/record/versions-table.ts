import { formatPercent, formatPercentInterval } from '../lib/format.ts';
import { renderTable } from '../lib/table.ts';
import type { WalkForward } from '../state/responses.ts';

type Version = WalkForward['report']['versions'][number];
type Gain = NonNullable<Version['horizons'][number]['pooled']>['gain'];

/** CRPS gain and coverage of every model version, by horizon. */
export function renderVersionsTable(versions: readonly Version[]) {
  const rows = versions.flatMap(({ name, horizons }) =>
    horizons.flatMap(({ horizon, pooled, lastLook }) => (pooled === null ? [] : [{ name: `${name} ${horizon}`, pooled, lastLook }])),
  );
  return renderTable({
    caption: `Model versions on the same days: gain is the CRPS below that of ${versions[0]?.name ?? 'the first'}, with its 95 % interval`,
    columns: [
      { heading: 'Version', cell: ({ name }) => name },
      { heading: 'Gain, all folds', cell: ({ pooled }) => formatGain(pooled.gain), numeric: true },
      { heading: 'Gain, folds looked at once', cell: ({ lastLook }) => formatGain(lastLook?.gain ?? null), numeric: true },
      ...[0, 1, 2].map((index) => ({
        heading: `In the ${['50', '80', '90'][index]} % band`,
        cell: ({ pooled }: (typeof rows)[number]) => formatPercent(pooled.coverage[index]?.value ?? null),
        numeric: true,
      })),
    ],
    rows,
  });
}

function formatGain(gain: Gain): string {
  if (gain === null || gain.low === null || gain.high === null) return formatPercent(gain?.value, 2);
  return `${formatPercent(gain.value, 2)} (${formatPercentInterval({ low: gain.low, high: gain.high }, 2)})`;
}
