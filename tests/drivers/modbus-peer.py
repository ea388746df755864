#!/usr/bin/python3
"""A Modbus device for the driver tests, made of pymodbus: TCP or RTU over TCP on loopback, or RTU on a pseudo terminal.

Arguments: port (0: any), framing (tcp, rtu or serial). Prints the port when it listens, or the path of the terminal.
Units 1 and 7; on unit 1 every table, the types of TYPED at their offsets, and registers 300 and 305 alone in a hole
(a read across it is refused). Over TCP it says what it is (function 43). On a terminal other units say nothing, each line
on standard input is answered with the settings that the terminal has: baud and stop bits.
"""
import asyncio
import os
import select
import struct
import sys
import termios
import tty

from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext, ModbusSparseDataBlock
from pymodbus.device import ModbusDeviceIdentification
from pymodbus.factory import ServerDecoder
from pymodbus.framer.rtu_framer import ModbusRtuFramer
from pymodbus.framer.socket_framer import ModbusSocketFramer
from pymodbus.server.async_io import ModbusTcpServer

TYPED = {
    10: struct.pack(">h", -1234),
    11: struct.pack(">H", 65000),
    12: struct.pack(">i", -123456789),
    14: struct.pack(">I", 4000000000),
    16: struct.pack(">q", -1234567890123456789),
    20: struct.pack(">Q", 18000000000000000000),
    24: struct.pack(">f", 3.25),
    26: struct.pack(">d", -0.1),
    30: b"Reactor\0??",
    40: struct.pack("<i", -123456789),  # DCBA
    42: b"".join(bytes([a, b]) for b, a in [struct.pack(">i", -123456789)[0:2], struct.pack(">i", -123456789)[2:4]]),  # BADC
    44: struct.pack(">i", -123456789)[2:4] + struct.pack(">i", -123456789)[0:2],  # CDAB
    46: struct.pack("<d", -0.1),
    50: struct.pack(">H", 0b1000_0000_0000_0101),
}


def registers():
    values = {address: 0 for address in range(0, 200)}
    for offset, data in TYPED.items():
        for index in range(0, len(data), 2):
            values[offset + index // 2] = struct.unpack(">H", data[index : index + 2])[0]
    values.update({300: 3, 305: 35, 65535: 9})
    return values


def unit(mark):
    return ModbusSlaveContext(
        di=ModbusSparseDataBlock({address: address % 3 == 0 for address in range(0, 100)}),
        co=ModbusSparseDataBlock({address: address % 2 == 0 for address in range(0, 100)}),
        hr=ModbusSparseDataBlock({**registers(), 0: mark}),
        ir=ModbusSparseDataBlock({**registers(), 0: mark + 1000}),
        zero_mode=True,
    )


def context():
    return ModbusServerContext(slaves={1: unit(1), 7: unit(7)}, single=False)


IDENTITY = ModbusDeviceIdentification(
    info_name={"VendorName": "Pymodbus", "ProductCode": "PM", "MajorMinorRevision": "3.0", "ProductName": "Peer of the driver tests"}
)


async def serve_tcp(port, framer):
    server = ModbusTcpServer(context(), framer=framer, identity=IDENTITY, address=("127.0.0.1", port), allow_reuse_address=True)
    serving = asyncio.ensure_future(server.serve_forever())
    await server.serving
    print(server.server.sockets[0].getsockname()[1], flush=True)
    await serving


BAUDS = {getattr(termios, name): int(name[1:]) for name in dir(termios) if name[0] == "B" and name[1:].isdigit()}


def settings(terminal):
    _, _, control, _, _, speed, _ = termios.tcgetattr(terminal)
    return f"baud={BAUDS.get(speed, 0)} stop={2 if control & termios.CSTOPB else 1}"


def serve_terminal():
    near, far = os.openpty()
    tty.setraw(far)
    device = context()
    framer = ModbusRtuFramer(ServerDecoder())

    def answer(request):
        reply = request.execute(device[request.unit_id])
        reply.transaction_id, reply.unit_id = request.transaction_id, request.unit_id
        if reply.should_respond:
            os.write(near, framer.buildPacket(reply))

    print(os.ttyname(far), flush=True)
    while True:
        ready, _, _ = select.select([near, sys.stdin], [], [])
        if sys.stdin in ready:
            if not sys.stdin.readline():
                return
            print(settings(far), flush=True)
        if near in ready:
            framer.processIncomingPacket(os.read(near, 256), answer, unit=[1, 7], single=False)


FRAMING = sys.argv[2] if len(sys.argv) > 2 else "tcp"
if FRAMING == "serial":
    serve_terminal()
else:
    asyncio.run(serve_tcp(int(sys.argv[1]), ModbusRtuFramer if FRAMING == "rtu" else ModbusSocketFramer))
