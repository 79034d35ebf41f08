// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice A plain ERC-20 of 18 decimals whose balance decides the access tier. The whole supply goes to the deployer.
contract GateToken is ERC20 {
    constructor(uint256 supply) ERC20("Oracle Gate", "GATE") {
        _mint(msg.sender, supply);
    }
}
