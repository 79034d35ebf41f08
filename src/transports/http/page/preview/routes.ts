import { DEFAULT_HORIZON, parseHorizonDays } from '../../../../forecast/horizon-input.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { FORECAST_PARAMS, readForecast } from '../forecasts/read-forecast.ts';
import type { ForecastFactsDeps } from '../forecasts/to-forecast-facts.ts';
import { renderDashboardCard } from './dashboard-card.ts';
import { renderForecastCard } from './forecast-card.ts';
import { createPngRenderer, toImageReply } from './png-renderer.ts';

type PreviewDeps = ForecastFactsDeps & Pick<HttpDeps, 'statistics'>;

const ALTERNATIVES = { 'image/png': { description: 'The image, 1200 by 630 pixels.' } };

/** Images of link previews. They hold nothing that an anonymous caller may not see. */
export function previewRoutes(deps: PreviewDeps): Route[] {
  const render = createPngRenderer();
  const horizonDays = parseHorizonDays(DEFAULT_HORIZON);
  return [
    route('GET /preview.png', 'getPreviewImage', {
      tag: 'service',
      summary: 'Image of the record for link previews',
      reply: null,
      alternatives: ALTERNATIVES,
      errors: ['RATE_LIMITED'],
      async handle() {
        const { summary } = await deps.statistics.figures.getHorizon(horizonDays);
        return toImageReply(await render(renderDashboardCard(summary, { horizonDays, isSimulated: deps.market.kind === 'simulated' })));
      },
    }),
    route('GET /f/{date}/{horizon}/preview.png', 'getForecastPreviewImage', {
      tag: 'record',
      summary: 'Image of a forecast for link previews; before the outcome the same for all forecasts',
      params: FORECAST_PARAMS,
      reply: null,
      alternatives: ALTERNATIVES,
      errors: ['NOT_FOUND', 'RATE_LIMITED'],
      handle: async ({ params }) => toImageReply(await render(renderForecastCard(await readForecast(deps, params)))),
    }),
  ];
}
