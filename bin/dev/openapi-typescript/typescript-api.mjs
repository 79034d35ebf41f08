// openapi-typescript prints with the JavaScript API of TypeScript, which TypeScript 7 does not have: it gets the one in `@ts-morph/common`.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier === 'typescript' ? import.meta.resolve('./typescript-api-module.mjs') : specifier, context),
});
