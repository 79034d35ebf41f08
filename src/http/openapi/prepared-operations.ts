/**
 * Brotli in base64 of the operations of the OpenAPI document, by their names. Empty where the sources run: the bundle of the service has a
 * module in the place of this one that holds them.
 */
export const PREPARED_OPERATIONS: Readonly<Record<string, string>> = {};
