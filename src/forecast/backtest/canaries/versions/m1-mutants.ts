import type { FeatureName, FeatureTable } from '../../../features/feature-table.ts';
import { BLOCK_DAYS, getBlockStart, type HorizonModel, LEARNING_RULES } from '../../../model.ts';
import { fitM1, m1 } from '../../../models/m1/m1.ts';
import type { M1Fit } from '../../../models/m1/m1-fit.ts';
import { fitWeekdayFactors } from '../../../models/m1/weekday-factors.ts';
import type { ModelRows } from '../../../models/model-version.ts';
import type { VersionMutants } from './version-mutant.ts';

/** `m1` broken on purpose: fits that read hidden outcomes, and distributions that read later days. */
export const M1_MUTANTS: VersionMutants = {
  fits: [
    {
      what: 'weekday factors are fitted on the test block too',
      version: withFit((fit, { closes, features }, { block, trainFrom }) => {
        const to = Math.min(getBlockStart(block) + BLOCK_DAYS - features.firstDay, features.length);
        return { ...fit, weekdayFactors: fitWeekdayFactors(closes, features, trainFrom + 1 - features.firstDay, to) };
      }),
    },
    {
      what: 'residual quantiles have labels that count as known before their windows are over',
      version: withFit((fit, rows, { block }) => {
        const leaking = { ...rows, rules: { ...LEARNING_RULES, lastKnownDay: (day: number) => day - 1 } };
        const { returnQuantiles, rangeQuantiles } = fitM1(leaking, block, fit.horizonDays);
        return { ...fit, returnQuantiles, rangeQuantiles };
      }),
    },
    {
      what: 'training continues until the block, without embargo',
      version: withFit((fit, rows, { block }) => fitM1({ ...rows, rules: { ...LEARNING_RULES, embargoDays: 0 } }, block, fit.horizonDays)),
    },
  ],
  forecasts: [
    { what: "the range variance has the next day's high and low", version: withFeatures(['rangeVariance'], () => 1) },
    { what: 'the variance from returns is that at the end of the window', version: withFeatures(['v94', 'v99'], (days) => days) },
  ],
};

function withFit(leak: (fit: M1Fit, rows: ModelRows, model: HorizonModel) => M1Fit): typeof m1 {
  return {
    ...m1,
    fit(direction, rows) {
      const model = m1.fit(direction, rows);
      const { weekdayWidths } = model;
      return weekdayWidths === undefined ? model : { ...model, weekdayWidths: leak(weekdayWidths, rows, model) };
    },
  };
}

/** Reads columns some days later, as far as the history reaches. */
function withFeatures(names: readonly FeatureName[], aheadOf: (horizonDays: number) => number): typeof m1 {
  return {
    ...m1,
    buildDistribution(model, { features, row, pUp }) {
      const later = Math.min(row + aheadOf(model.horizonDays), features.length - 1);
      const early: FeatureTable = { ...features };
      for (const name of names) early[name] = features[name].with(row, features[name][later]);
      return m1.buildDistribution(model, { features: early, row, pUp });
    },
  };
}
