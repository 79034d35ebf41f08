// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @notice A contract wallet (EIP-1271) of one owner, or one that misbehaves in a chosen way.
contract ContractWallet {
    enum Behaviour {
        Honest,
        Reverts,
        NeverEnds,
        Invalid,
        WrongAnswer,
        TrustsFeeEstimates,
        ValidWithoutGasPrice,
        ValidWithoutOrigin,
        ValidWithSpareGas,
        BurnsGas
    }

    /// @dev More than the limit that a transaction of this contract's tests is sent with, and less than a node gives a call.
    uint256 private constant SPARE_GAS = 300_000;
    uint256 private constant BURNT_GAS = 230_000;

    address private immutable OWNER;
    Behaviour private immutable BEHAVIOUR;

    constructor(address owner, Behaviour behaviour) {
        OWNER = owner;
        BEHAVIOUR = behaviour;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (BEHAVIOUR == Behaviour.Reverts) revert("no");
        if (BEHAVIOUR == Behaviour.NeverEnds) while (true) {}
        if (BEHAVIOUR == Behaviour.Invalid) {
            assembly {
                invalid()
            }
        }
        if (BEHAVIOUR == Behaviour.WrongAnswer) return 0xffffffff;
        // What some accounts do, so that a bundler can estimate fees without a signature.
        if (BEHAVIOUR == Behaviour.TrustsFeeEstimates && tx.origin == address(0)) return this.isValidSignature.selector;
        if (BEHAVIOUR == Behaviour.ValidWithoutGasPrice && tx.gasprice != 0) return 0xffffffff;
        if (BEHAVIOUR == Behaviour.ValidWithoutOrigin && tx.origin != address(0)) return 0xffffffff;
        if (BEHAVIOUR == Behaviour.ValidWithSpareGas && gasleft() < SPARE_GAS) return 0xffffffff;
        if (BEHAVIOUR == Behaviour.BurnsGas) {
            uint256 end = gasleft() - BURNT_GAS;
            while (gasleft() > end) {}
        }
        if (signature.length != 65) return 0xffffffff;
        address signer = ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return signer == OWNER ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
