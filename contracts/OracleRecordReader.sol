// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IEAS, Attestation} from "@ethereum-attestation-service/eas-contracts/contracts/IEAS.sol";

/// @title Reads the record of one attester and horizon from EAS
/// @notice Every function verifies what it returns or reverts with the reason. A contract sees single attestations, not the list of all:
/// it cannot detect a second prediction of the same day, a second resolution, or wrong closes. A consumer that accepts each prediction
/// before its window opens, in the order of `requireSuccessor`, cannot be shown another one later.
contract OracleRecordReader {
    /// @dev The fields of the EAS schema, in order. Times in seconds since 1970; `day` in days since 1970-01-01.
    struct Prediction {
        uint64 sequence;
        uint32 day;
        uint16 horizonDays;
        uint64 windowOpensAt;
        uint64 resolvesAt;
        bytes32 commitment;
        bytes32 inputsDigest;
        bytes32 metadata;
    }

    /// @dev Preimage of a commitment. `signal`: 0 HOLD, 1 BUY, 2 SELL. `direction`: 1 UP, 2 DOWN. Probabilities in basis points.
    struct Opening {
        bytes32 salt;
        uint8 signal;
        uint8 direction;
        uint16 confidenceBps;
        uint16 pUpBps;
        uint64 btcPriceCents;
    }

    /// @dev `outcome`: 0 HOLD, 1 WIN, 2 LOSS. Prices in US cents.
    struct Outcome {
        uint64 btcAtSignalCents;
        uint64 btcAtResolutionCents;
        int32 returnBps;
        uint8 outcome;
    }

    error AttestationNotFound(bytes32 uid);
    error AttestationRevoked(bytes32 uid);
    error WrongSchema(bytes32 uid, bytes32 schema);
    error WrongAttester(bytes32 uid, address attester);
    error WrongHorizon(bytes32 uid, uint16 horizonDays);
    error WrongWindow(bytes32 uid);
    error NotBeforeWindow(bytes32 uid, uint64 attestedAt, uint64 windowOpensAt);
    error NothingForecast(bytes32 uid);
    error CommitmentMismatch(bytes32 uid);
    error InvalidOpening(bytes32 uid);
    error ResolvedEarly(bytes32 uid, uint64 attestedAt, uint64 resolvesAt);
    error InvalidOutcome(bytes32 uid);
    error NotSuccessor(bytes32 uid, bytes32 previousUid);

    bytes32 public constant PREDICTION_SCHEMA = keccak256(
        abi.encodePacked(
            "uint64 sequence, uint32 day, uint16 horizonDays, uint64 windowOpensAt, uint64 resolvesAt, bytes32 commitment, bytes32 inputsDigest, bytes32 metadata",
            address(0),
            false
        )
    );
    bytes32 public constant RESOLUTION_SCHEMA = keccak256(
        abi.encodePacked(
            "bytes32 salt, uint8 signal, uint8 direction, uint16 confidenceBps, uint16 pUpBps, uint64 btcPriceCents, uint64 btcAtSignalCents, uint64 btcAtResolutionCents, int32 returnBps, uint8 outcome",
            address(0),
            false
        )
    );

    uint8 private constant HOLD = 0;
    uint8 private constant UP = 1;
    uint8 private constant WIN = 1;
    uint8 private constant LOSS = 2;
    uint16 private constant MAX_BPS = 10_000;
    uint16 private constant MAX_CONFIDENCE_BPS = 9_900;

    IEAS public immutable eas;
    address public immutable attester;
    uint16 public immutable horizonDays;

    constructor(IEAS eas_, address attester_, uint16 horizonDays_) {
        eas = eas_;
        attester = attester_;
        horizonDays = horizonDays_;
    }

    /// @notice A prediction attested before its outcome window opened.
    function readPrediction(bytes32 uid) public view returns (Prediction memory prediction) {
        Attestation memory attestation = readAttestation(uid, PREDICTION_SCHEMA);
        prediction = abi.decode(attestation.data, (Prediction));
        if (prediction.horizonDays != horizonDays) revert WrongHorizon(uid, prediction.horizonDays);
        uint256 opensAt = (uint256(prediction.day) + 1) * 1 days;
        if (prediction.windowOpensAt != opensAt || prediction.resolvesAt != opensAt + uint256(horizonDays) * 1 days) {
            revert WrongWindow(uid);
        }
        if (attestation.time >= prediction.windowOpensAt) {
            revert NotBeforeWindow(uid, attestation.time, prediction.windowOpensAt);
        }
        if (prediction.commitment == 0) revert NothingForecast(uid);
    }

    /// @notice Verifies that `uid` is the prediction right after `previousUid` in the record: linked to it, with the next sequence number.
    function requireSuccessor(bytes32 uid, bytes32 previousUid) external view returns (Prediction memory prediction) {
        prediction = readPrediction(uid);
        Attestation memory previous = readAttestation(previousUid, PREDICTION_SCHEMA);
        uint64 sequence = abi.decode(previous.data, (Prediction)).sequence;
        if (eas.getAttestation(uid).refUID != previousUid || prediction.sequence != sequence + 1) {
            revert NotSuccessor(uid, previousUid);
        }
    }

    /// @notice A prediction with the values that open its commitment. An opening in calldata is public from that transaction on.
    function readOpened(bytes32 uid, Opening memory opening) public view returns (Prediction memory prediction) {
        prediction = readPrediction(uid);
        if (keccak256(abi.encode(opening)) != prediction.commitment) revert CommitmentMismatch(uid);
        uint16 pDownBps = opening.pUpBps > MAX_BPS ? 0 : MAX_BPS - opening.pUpBps;
        uint16 likelierBps = opening.pUpBps > pDownBps ? opening.pUpBps : pDownBps;
        // One half is rounded from a probability on either side of it.
        bool isLikelier = opening.pUpBps == pDownBps || (opening.direction == UP) == (opening.pUpBps > pDownBps);
        if (
            opening.pUpBps > MAX_BPS || opening.signal > 2 || opening.direction < 1 || opening.direction > 2 || !isLikelier
                || opening.confidenceBps != (likelierBps > MAX_CONFIDENCE_BPS ? MAX_CONFIDENCE_BPS : likelierBps)
                || (opening.signal != HOLD && opening.signal != opening.direction)
        ) revert InvalidOpening(uid);
    }

    /// @notice A resolution, made after the window, whose values open the commitment of its prediction. The closes are the attester's.
    function readResolution(bytes32 uid)
        external
        view
        returns (bytes32 predictionUid, Prediction memory prediction, Opening memory opening, Outcome memory outcome)
    {
        Attestation memory attestation = readAttestation(uid, RESOLUTION_SCHEMA);
        predictionUid = attestation.refUID;
        (opening, outcome) = abi.decode(attestation.data, (Opening, Outcome));
        prediction = readOpened(predictionUid, opening);
        if (attestation.time < prediction.resolvesAt) revert ResolvedEarly(uid, attestation.time, prediction.resolvesAt);
        bool rose = outcome.btcAtResolutionCents > outcome.btcAtSignalCents;
        uint8 expected = opening.signal == HOLD ? HOLD : (opening.direction == UP) == rose ? WIN : LOSS;
        if (outcome.btcAtSignalCents == 0 || outcome.outcome != expected) revert InvalidOutcome(uid);
    }

    function readAttestation(bytes32 uid, bytes32 schema) private view returns (Attestation memory attestation) {
        attestation = eas.getAttestation(uid);
        if (uid == 0 || attestation.uid != uid) revert AttestationNotFound(uid);
        if (attestation.schema != schema) revert WrongSchema(uid, attestation.schema);
        if (attestation.attester != attester) revert WrongAttester(uid, attestation.attester);
        if (attestation.revocationTime != 0) revert AttestationRevoked(uid);
    }
}
