/**
 * The one door to the OPC UA library. It takes most of a second and 70 MB, so only a thread that has an OPC UA module
 * comes through here; and it writes what it thinks to the standard output, which is not its own: it is told to be quiet
 * before it is loaded, and each of its faults comes to us as an error anyway.
 */
process.env.NODEOPCUA_LOG_LEVEL = '0';
const opcua = await import('node-opcua-client');

opcua.setWarningLogger(() => undefined);
opcua.setErrorLogger(() => undefined);

export const {
  AttributeIds,
  BrowseDirection,
  BrowseNextRequest,
  BrowseRequest,
  CallRequest,
  ClientSecureChannelLayer,
  CloseSessionRequest,
  CreateMonitoredItemsRequest,
  CreateSubscriptionRequest,
  DataChangeNotification,
  DataType,
  DeleteSubscriptionsRequest,
  MessageSecurityMode,
  MonitoringMode,
  NodeClass,
  NodeId,
  OPCUAClient,
  PublishRequest,
  ReadRequest,
  RepublishRequest,
  resolveNodeId,
  SecurityPolicy,
  StatusChangeNotification,
  StatusCodes,
  TimestampsToReturn,
  UserTokenType,
  Variant,
  VariantArrayType,
  WriteRequest,
} = opcua;

/** Its own bound is 5 s: a request that is given less time gives up in its time. */
ClientSecureChannelLayer.minTransactionTimeout = 100;
