// Stands here for Node and the type check; browsers are served the file of the package itself under this name.
export * from '@noble/hashes/utils.js';
