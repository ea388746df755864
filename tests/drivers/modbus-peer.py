#!/usr/bin/python3
"""A Modbus TCP device on loopback for the driver tests, made of pymodbus.

Arguments: port (0: any). Prints the port when it listens. Units 1 and 7; on unit 1 every table, the types of
TYPED at their offsets, and registers 300 and 305 alone in a hole (a read across it is refused).
"""
import asyncio
import struct
import sys

from pymodbus.datastore import ModbusServerContext, ModbusSlaveContext, ModbusSparseDataBlock
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


async def main():
    context = ModbusServerContext(slaves={1: unit(1), 7: unit(7)}, single=False)
    server = ModbusTcpServer(context, address=("127.0.0.1", int(sys.argv[1])), allow_reuse_address=True)
    serving = asyncio.ensure_future(server.serve_forever())
    await server.serving
    print(server.server.sockets[0].getsockname()[1], flush=True)
    await serving


asyncio.run(main())
