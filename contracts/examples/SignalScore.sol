// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {OracleRecordReader} from "../OracleRecordReader.sol";

/// @title Counts the wins and losses of a record on chain
/// @notice Accepts each prediction before its window opens, so that no other prediction of that day can take its place, and scores it
/// once. Anyone may call.
contract SignalScore {
    error WindowOpen(bytes32 uid);
    error NotAccepted(bytes32 predictionUid);

    event Accepted(bytes32 indexed predictionUid, uint64 sequence);
    event Scored(bytes32 indexed predictionUid, uint8 outcome);

    OracleRecordReader public immutable reader;
    bytes32 public lastUid;
    uint32 public wins;
    uint32 public losses;
    mapping(bytes32 predictionUid => bool) public isAwaited;

    /// @param firstUid The prediction after which the score begins.
    constructor(OracleRecordReader reader_, bytes32 firstUid) {
        reader = reader_;
        lastUid = firstUid;
    }

    function accept(bytes32 predictionUid) external {
        OracleRecordReader.Prediction memory prediction = reader.requireSuccessor(predictionUid, lastUid);
        if (block.timestamp >= prediction.windowOpensAt) revert WindowOpen(predictionUid);
        lastUid = predictionUid;
        isAwaited[predictionUid] = true;
        emit Accepted(predictionUid, prediction.sequence);
    }

    function score(bytes32 resolutionUid) external {
        (bytes32 predictionUid,,, OracleRecordReader.Outcome memory result) = reader.readResolution(resolutionUid);
        if (!isAwaited[predictionUid]) revert NotAccepted(predictionUid);
        isAwaited[predictionUid] = false;
        if (result.outcome == 1) wins++;
        if (result.outcome == 2) losses++;
        emit Scored(predictionUid, result.outcome);
    }
}
