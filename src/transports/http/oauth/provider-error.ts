import type { Configuration } from 'oidc-provider';
import { CONSENT_HEADERS, renderOAuthErrorPage } from './consent-page.ts';

type RenderError = NonNullable<Configuration['renderError']>;

/** An error of the provider that cannot go back to the application. Its description is the provider's, not the client's. */
export function renderProviderError(publicUrl: string, context: Parameters<RenderError>[0], out: Parameters<RenderError>[1]): void {
  if (context.accepts('json', 'html') !== 'html') {
    context.body = out;
    return;
  }
  context.set(CONSENT_HEADERS);
  context.body = renderOAuthErrorPage(publicUrl, `${out.error}: ${out.error_description ?? 'the request was refused'}.`);
}
