import { mountForecastCheck } from '../forecast/forecast-check.ts';
import { mountShareButton } from '../forecast/share-button.ts';

/** The page of one forecast, which the server has written: the script adds checking and sharing. */
export function mountForecast() {
  mountForecastCheck();
  mountShareButton();
}
