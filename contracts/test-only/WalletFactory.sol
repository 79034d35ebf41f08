// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ContractWallet} from "./ContractWallet.sol";

/// @notice Deploys contract wallets at addresses that are known before.
contract WalletFactory {
    function deploy(address owner, ContractWallet.Behaviour behaviour) external {
        new ContractWallet{salt: 0}(owner, behaviour);
    }

    function addressOf(address owner, ContractWallet.Behaviour behaviour) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ContractWallet).creationCode, abi.encode(owner, behaviour)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}
