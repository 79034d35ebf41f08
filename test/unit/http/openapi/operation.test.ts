import { describe, expect, it } from 'vitest';
import { getSecurityRequirements } from '../../../../src/http/openapi/document.ts';
import { declaredRoutes } from '../../../../src/http/routes.ts';

describe('getSecurityRequirements', () => {
  it.each([
    [{ access: 'public' }, []],
    [{ access: 'public', variesByCaller: true }, [{}, { walletToken: [] }]],
    [{ access: 'public', ownerOnly: true }, [{ walletToken: [] }]],
    [{ access: 'basic' }, [{ walletToken: [] }]],
    [{ access: 'basic', isWebSocket: true }, [{ walletToken: [] }, { webSocketToken: [] }, { webSocketTicket: [] }]],
    [{ access: 'admin' }, [{ operator: [] }]],
  ] as const)('of %j are %j', (route, expected) => expect(getSecurityRequirements(route)).toEqual(expected));

  it('are optional for exactly the public operations whose handler reads the caller', () => {
    const open = declaredRoutes().filter(({ access, ownerOnly }) => access === 'public' && ownerOnly !== true);
    const reads = open.filter(({ handle }) => /\bcaller\b/.test(handle.toString())).map(({ name }) => name);
    expect(reads.length).toBeGreaterThan(10);
    expect(open.filter(({ variesByCaller }) => variesByCaller === true).map(({ name }) => name)).toEqual(reads);
  });
});
